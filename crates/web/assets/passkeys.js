// Passkeys: asks the server for a challenge, the browser for an answer, and sends it as the form.

const text = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');

const bytes = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));

async function challenge(form, path) {
  const response = await fetch(path, {
    method: 'POST',
    body: new URLSearchParams({ csrf: form.elements.csrf.value }),
  });
  if (!response.ok) throw new Error(String(response.status));
  const options = await response.json();
  options.challenge = bytes(options.challenge);
  return options;
}

async function made(form) {
  const publicKey = await challenge(form, '/settings/sign-in/passkeys/challenge');
  publicKey.user.id = bytes(publicKey.user.id);
  for (const known of publicKey.excludeCredentials) known.id = bytes(known.id);
  const { rawId, response } = await navigator.credentials.create({ publicKey });
  return {
    id: text(rawId),
    client_data: text(response.clientDataJSON),
    authenticator_data: text(response.getAuthenticatorData()),
    public_key: text(response.getPublicKey()),
    algorithm: response.getPublicKeyAlgorithm(),
  };
}

async function used(form) {
  const publicKey = await challenge(form, '/sign-in/passkey/challenge');
  const { rawId, response } = await navigator.credentials.get({ publicKey });
  return {
    id: text(rawId),
    client_data: text(response.clientDataJSON),
    authenticator_data: text(response.authenticatorData),
    signature: text(response.signature),
    user_handle: text(response.userHandle ?? []),
  };
}

for (const form of document.querySelectorAll('form[data-passkey]')) {
  const button = form.querySelector('button');
  const error = form.querySelector('[data-passkey-error]');
  if (!window.PublicKeyCredential) {
    error.textContent = t("This browser has no passkeys.");
    error.hidden = false;
    continue;
  }
  button.disabled = false;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    button.disabled = true;
    error.hidden = true;
    try {
      const answer = await (form.dataset.passkey === 'new' ? made : used)(form);
      for (const [name, value] of Object.entries(answer)) {
        const field = document.createElement('input');
        Object.assign(field, { type: 'hidden', name, value });
        form.append(field);
      }
      form.submit();
    } catch (fault) {
      button.disabled = false;
      error.textContent = fault.name === 'InvalidStateError'
        ? t("This device has a passkey for you already.")
        : t("Nothing was done: the device gave no passkey. Try again, or use another way.");
      error.hidden = false;
    }
  });
}
