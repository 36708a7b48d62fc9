// Checks the signature of a delivery by Standard Webhooks.
import { createHmac, timingSafeEqual } from 'node:crypto';

/** Seconds that the time of a delivery may be away from now. */
export const TOLERANCE = 300;

/** True when one of the signatures is of this secret, over these bytes, and not old. After a rotation there are two. */
export function isGenuine(secret: string, headers: Record<string, unknown>, body: Buffer, nowMs: number): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string') return false;
  if (!/^[0-9]{1,12}$/.test(timestamp) || Math.abs(nowMs / 1000 - Number(timestamp)) > TOLERANCE) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  if (key.length === 0) return false;
  const expected = `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
  return signatures.split(' ').some((signature) => isEqual(Buffer.from(signature), Buffer.from(expected)));
}

/** In constant time. */
function isEqual(signature: Buffer, expected: Buffer): boolean {
  return signature.length === expected.length && timingSafeEqual(signature, expected);
}
