// Subscribes this browser to notices: asks the person, the server for its key and the browser for a
// subscription, and sends that as the form.

const form = document.querySelector('form[data-subscribe]');
if (form) prepare(form);

function prepare(form) {
  const button = form.querySelector('button');
  const error = form.querySelector('[data-subscribe-error]');
  const say = (words) => {
    error.textContent = words;
    error.hidden = false;
  };
  if (!navigator.serviceWorker || !window.PushManager || !window.Notification) {
    say(t("This browser takes no notices. On an iPhone or iPad, add Mailroom to the home screen first."));
    return;
  }
  button.disabled = false;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    button.disabled = true;
    error.hidden = true;
    try {
      if (await Notification.requestPermission() !== 'granted') {
        say(t("This browser does not allow notices from Mailroom. Allow them in its settings for this site."));
        return;
      }
      const { endpoint, keys } = (await subscription(form)).toJSON();
      for (const [name, value] of Object.entries({ endpoint, ...keys })) {
        const field = document.createElement('input');
        Object.assign(field, { type: 'hidden', name, value });
        form.append(field);
      }
      form.submit();
    } catch {
      say(t("Nothing was done: this browser could not subscribe. Check its connection and try again."));
    } finally {
      button.disabled = false;
    }
  });
}

async function subscription(form) {
  const response = await fetch('/settings/notifications/key', {
    method: 'POST',
    body: new URLSearchParams({ csrf: form.elements.csrf.value }),
  });
  if (!response.ok) throw new Error(String(response.status));
  const { key } = await response.json();
  const worker = await navigator.serviceWorker.register('/service-worker.js');
  // One of an earlier key, or of somebody else who used this browser, is not taken over.
  await (await worker.pushManager.getSubscription())?.unsubscribe();
  return worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
}
