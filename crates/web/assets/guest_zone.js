// Pages on which a guest reads times: shows them in the zone of the guest's device, as long as neither the
// address nor the guest has named one. Without this script they are in the host's zone.

const unknown = document.querySelector("[data-zone-unknown]");
const address = new URL(location.href);
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

// An address that names a zone was tried already; the server may not know it.
if (unknown && zone && !address.searchParams.has("zone") && unknown.dataset.zoneUnknown !== zone) {
  address.searchParams.set("zone", zone);
  location.replace(address);
}
