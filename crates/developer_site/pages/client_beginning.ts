/**
 * A typed client for the Mailroom API, in one file without dependencies, for Node 20 and newer, and browsers.
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
 * Without arguments it takes the address from MAILROOM and the key from MAILROOM_KEY. A request that meets 429, 5xx
 * or a broken connection is sent again a few times, after as long as Retry-After says; nothing happens twice, because
 * a write that could has an Idempotency-Key.
 */

const TIMEOUT_MS = 30_000;
/** How often a request is sent again, and the longest that the client waits before it does. */
const RETRIES = 4;
const MOST_WAIT_MS = 60_000;
const FIRST_WAIT_MS = 500;
/** How long a feed without news rests before it asks again. */
const FEED_WAIT_MS = 5_000;

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

/** One page of a list: an array of its items that also says where the next page begins. */
export interface Page<T> extends Array<T> {
  readonly items: T[];
  /** Where the next page begins; null on the last page. A list of events always has one, once it had events. */
  readonly cursor: string | null;
  /** How many the whole list has, where `count: true` was asked for and it was counted to the end. */
  readonly total: number | null;
  /** The same where it has more than are counted. */
  readonly atLeast: number | null;
}

/** Where a feed of events begins. */
export interface FeedOptions {
  /** The `cursor` of an earlier feed. */
  cursor?: string | null;
  start?: "oldest" | "now";
  waitMs?: number;
  /** Ends the feed. */
  signal?: AbortSignal;
}

/**
 * Events as they happen, without end. `cursor` is where to go on after the event that was given last: keep it when the
 * event is dealt with, and give it to `followEvents` after a restart.
 */
export class EventFeed<T> implements AsyncIterable<T> {
  cursor: string | null;
  readonly #ask: (input: object) => Promise<Page<T>>;
  readonly #options: FeedOptions;

  constructor(ask: (input: object) => Promise<Page<T>>, options: FeedOptions) {
    this.#ask = ask;
    this.#options = options;
    this.cursor = options.cursor ?? null;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    const { start = "now", waitMs = FEED_WAIT_MS, signal } = this.#options;
    let after = this.cursor;
    while (!signal?.aborted) {
      const page = await this.#ask({ limit: 100, ...(after === null ? { start } : { cursor: after }) });
      after = page.cursor ?? after;
      for (const [place, event] of page.entries()) {
        if (place === page.length - 1) this.cursor = after;
        yield event;
      }
      if (page.length > 0) continue;
      this.cursor = after;
      await rest(waitMs, signal);
    }
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

function rest(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      done();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end);
  });
}

function backoff(tries: number): number {
  return Math.min(FIRST_WAIT_MS * 2 ** tries, MOST_WAIT_MS) * (0.5 + Math.random() / 2);
}

/** How long to wait before the request is sent again; null where that is of no use. */
function waitFor(error: MailroomError, tries: number): number | null {
  if (error.status !== 429 && error.status < 500) return null;
  if (error.retryAfter === null) return backoff(tries);
  const wait = error.retryAfter * 1_000;
  return wait <= MOST_WAIT_MS ? wait : null;
}

async function refusal(answer: Response): Promise<MailroomError> {
  const wait = answer.headers.get("retry-after") ?? "";
  const told = (await answer.json().catch(() => ({}))) as { error?: string };
  const retryAfter = /^[0-9]+$/.test(wait) ? Number(wait) : null;
  return new MailroomError(answer.status, told.error ?? answer.statusText, retryAfter);
}

type Options = { idempotencyKey?: string; raw?: boolean };

class Connection {
  readonly #address: string;
  readonly #key: string;
  readonly #retries: number;

  constructor(address?: string, key?: string, options: { retries?: number } = {}) {
    this.#address = (address ?? environment("MAILROOM")).replace(/\/+$/, "");
    this.#key = key ?? environment("MAILROOM_KEY");
    this.#retries = options.retries ?? RETRIES;
  }

  protected async call<T>(method: string, path: string, input: object, options: Options = {}): Promise<T> {
    const answer = await this.#ask(method, path, input, options.idempotencyKey);
    if (options.raw) return new Uint8Array(await answer.arrayBuffer()) as T;
    return (await answer.json()) as T;
  }

  protected async page<T>(path: string, input: object): Promise<Page<T>> {
    const answer = await this.#ask("GET", path, input);
    const items = (await answer.json()) as T[];
    const next = /<([^>]+)>; rel="next"/.exec(answer.headers.get("link") ?? "");
    const number = (name: string) => {
      const text = answer.headers.get(name);
      return text === null ? null : Number(text);
    };
    const about = {
      items: [...items],
      cursor: next ? new URL(next[1]!).searchParams.get("cursor") : null,
      total: number("x-total-count"),
      atLeast: number("x-total-at-least"),
    };
    for (const [name, value] of Object.entries(about)) Object.defineProperty(items, name, { value });
    return items as Page<T>;
  }

  protected async *each<T>(path: string, input: object): AsyncGenerator<T> {
    const fields: Record<string, unknown> = { ...input };
    for (;;) {
      const page = await this.page<T>(path, fields);
      yield* page;
      if (page.cursor === null || page.length === 0) return;
      fields.cursor = page.cursor;
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
    for (let tries = 0; ; tries += 1) {
      const isLast = tries >= this.#retries;
      let wait: number | null;
      try {
        const answer = await fetch(url, { method, headers, body, signal: AbortSignal.timeout(TIMEOUT_MS) });
        if (answer.ok) return answer;
        const error = await refusal(answer);
        wait = waitFor(error, tries);
        if (isLast || wait === null) throw error;
      } catch (error) {
        if (isLast || error instanceof MailroomError) throw error;
        wait = backoff(tries);
      }
      await rest(wait);
    }
  }
}
