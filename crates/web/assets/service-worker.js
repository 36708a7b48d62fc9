// Shows the notices that the server sends to this browser, and opens what they are about. Without a connection
// it shows one page that says so: that page and its style are all that is kept here, and no mail.

const KEPT = 'mailroom-offline';
const OFFLINE = '/offline';

self.addEventListener('install', (event) => {
  // Notices work without the page.
  event.waitUntil(keepOfflinePage().catch(() => {}));
});

async function keepOfflinePage() {
  const page = await fetch(OFFLINE, { cache: 'reload', credentials: 'omit' });
  if (!page.ok) return;
  const styles = [...(await page.clone().text()).matchAll(/href="(\/assets\/[^"]+\.css)"/g)];
  const cache = await caches.open(KEPT);
  await cache.put(OFFLINE, page);
  await cache.addAll(styles.map(([, path]) => path));
}

// Pages come from the server alone. Where it cannot be reached, the browser would say so in its own words.
self.addEventListener('fetch', (event) => {
  const { request } = event;
  if (request.method !== 'GET') return;
  if (request.mode === 'navigate') {
    event.respondWith(fetch(request).catch(() => kept(OFFLINE)));
  } else if (request.destination === 'style') {
    event.respondWith(fetch(request).catch(() => kept(request)));
  }
});

async function kept(wanted) {
  return (await caches.match(wanted, { cacheName: KEPT })) ?? Response.error();
}

self.addEventListener('push', (event) => {
  const { title, body, url, tag } = event.data.json();
  event.waitUntil(self.registration.showNotification(title, { body, tag, data: { url } }));
});

self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  const address = new URL(event.notification.data.url, self.location.origin);
  event.waitUntil(show(address.href));
});

// A page that shows it already comes to the front; otherwise a new one opens.
async function show(address) {
  const pages = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const same = pages.find((page) => page.url.split(/[?#]/)[0] === address);
  return same ? same.focus() : self.clients.openWindow(address);
}
