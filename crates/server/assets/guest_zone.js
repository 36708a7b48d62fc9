// Pages on which a guest reads times: shows them in the zone of the guest's device, as long as neither the
// address nor the guest has named one. Without this script they are in the host's zone.

const form = document.querySelector("form[data-zone-unknown]");
const address = new URL(location.href);
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

// An address that names a zone was tried already; the server may not know it.
if (form && zone && !address.searchParams.has("zone") && form.elements.zone.value !== zone) {
  address.searchParams.set("zone", zone);
  location.replace(address);
}
