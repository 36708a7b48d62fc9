/**
 * A typed client for the Mailroom API, in one file without dependencies, for Node 22 and browsers.
 *
 * Made by Mailroom {version} from its table of operations. Get the newest from your own server:
 * /developers/clients/mailroom.ts
 *
 *     import { Mailroom } from "./mailroom.ts";
 *
 *     const mailroom = new Mailroom("https://mail.example.com/api/v1", "rk_test_...");
 *     for (const conversation of await mailroom.listConversations({ view: "open" })) {
 *       console.log(conversation.subject);
 *     }
 *
 * Without arguments it takes the address from MAILROOM and the key from MAILROOM_KEY.
 */

const TIMEOUT_MS = 30_000;

/** The server refused: decide by `status`, show the sentence. */
export class MailroomError extends Error {
  readonly status: number;
  readonly sentence: string;
  readonly retryAfter: number | null;

  constructor(status: number, sentence: string, retryAfter: number | null) {
    super(`${status}: ${sentence}`);
    this.status = status;
    this.sentence = sentence;
    this.retryAfter = retryAfter;
  }
}

/** True when a webhook call is signed with this secret, and not long ago. */
export async function isGenuine(
  headers: Record<string, string | undefined>,
  body: string,
  secret: string,
): Promise<boolean> {
  const sent = headers["webhook-timestamp"] ?? "";
  if (!/^[0-9]+$/.test(sent) || Math.abs(Date.now() / 1000 - Number(sent)) > 300) return false;
  const bytes = (text: string) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const secretBytes = bytes(secret.replace(/^whsec_/, ""));
  const key = await crypto.subtle.importKey("raw", secretBytes, hmac, false, ["verify"]);
  const signed = new TextEncoder().encode(`${headers["webhook-id"]}.${sent}.${body}`);
  for (const one of (headers["webhook-signature"] ?? "").split(" ")) {
    if (!one.startsWith("v1,")) continue;
    if (await crypto.subtle.verify("HMAC", key, bytes(one.slice(3)), signed)) return true;
  }
  return false;
}

function environment(name: string): string {
  const process = (globalThis as { process?: { env: Record<string, string | undefined> } }).process;
  const value = process?.env[name];
  if (!value) throw new Error(`Give the client an address and a key, or set ${name}.`);
  return value;
}

type Options = { idempotencyKey?: string; raw?: boolean };

class Connection {
  readonly #address: string;
  readonly #key: string;

  constructor(address?: string, key?: string) {
    this.#address = (address ?? environment("MAILROOM")).replace(/\/+$/, "");
    this.#key = key ?? environment("MAILROOM_KEY");
  }

  protected async call<T>(method: string, path: string, input: object, options: Options = {}): Promise<T> {
    const answer = await this.#ask(method, path, input, options.idempotencyKey);
    if (options.raw) return new Uint8Array(await answer.arrayBuffer()) as T;
    return (await answer.json()) as T;
  }

  protected async *each<T>(path: string, input: object): AsyncGenerator<T> {
    const fields: Record<string, unknown> = { ...input };
    for (;;) {
      const answer = await this.#ask("GET", path, fields);
      const items = (await answer.json()) as T[];
      yield* items;
      const next = /<([^>]+)>; rel="next"/.exec(answer.headers.get("link") ?? "");
      if (!next || items.length === 0) return;
      fields.cursor = new URL(next[1]!).searchParams.get("cursor");
    }
  }

  async #ask(method: string, path: string, input: object, idempotencyKey?: string): Promise<Response> {
    const headers: Record<string, string> = {
      "Authorization": `Bearer ${this.#key}`,
      "Content-Type": "application/json",
    };
    if (idempotencyKey) headers["Idempotency-Key"] = idempotencyKey;
    let url = this.#address + path;
    const given = Object.entries(input).filter(([, value]) => value !== undefined);
    if (method === "GET" && given.length > 0) {
      url += `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
    }
    const body = method === "POST" ? JSON.stringify(input) : null;
    const answer = await fetch(url, { method, headers, body, signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (answer.ok) return answer;
    const wait = answer.headers.get("retry-after");
    const told = (await answer.json().catch(() => ({}))) as { error?: string };
    throw new MailroomError(answer.status, told.error ?? answer.statusText, wait ? Number(wait) : null);
  }
}
