// Shows the notices that the server sends to this browser, and opens what they are about.

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
