"""Checks the templates for containers against the program, its settings and its image.

    templates.py BINARY SCRATCH

Of each template in packaging/examples: it is YAML; every MAILROOM_ name in it, comments too, is a setting of
docs/settings.md; the image is that of this version, with a volume at its data folder, and every port that leads to
Mailroom is one on which it listens; claims, selectors and ports of Kubernetes fit together; what the program gets as
settings, it takes. The paths of probes answer on a server. Every setting that a configuration for another program
names is one too.
"""

import importlib.machinery
import importlib.util
import os
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import yaml

REPO = Path(__file__).resolve().parents[3]
EXAMPLES = REPO / "packaging/examples"
sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
from examples import Mailroom  # noqa: E402

COMPOSE = ("compose.yaml", "compose-postgres.yaml", "coolify.yaml")
KUBERNETES = "kubernetes.yaml"
# What stands for a value that whoever uses the template chooses.
CHOSEN = {
    "${POSTGRES_PASSWORD:?is missing in .env}": "secret",
    "$SERVICE_URL_MAILROOM": "https://mail.acme.example",
    "${MAILROOM_RELAY:-mx:}": "mx:",
}
# The exit status of a program that cannot use a setting.
WRONG_SETTING = 2


def main():
    binary, scratch = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    scratch.mkdir(parents=True, exist_ok=True)
    image = load_image_script()
    settings = set(re.findall(r"`(MAILROOM_[A-Z_]+)`", (REPO / "docs/settings.md").read_text()))
    for path in sorted(EXAMPLES.iterdir()):
        check_names(path, settings)
    environments, probes = {}, set()
    for name in COMPOSE:
        environments[name] = check_compose(name, image)
    environments[KUBERNETES], probes = check_kubernetes(image)
    left = {path.name for path in EXAMPLES.glob("*.y*ml")} - environments.keys()
    assert not left, f"nothing checks {sorted(left)}"
    for name, environment in environments.items():
        check_settings(binary, scratch / name, name, environment)
    (scratch / "server").mkdir()
    with Mailroom(binary, scratch / "server", "https://mail.acme.example", "mx:") as mailroom:
        for path in sorted(probes):
            with urllib.request.urlopen(f"http://127.0.0.1:{mailroom.port}{path}", timeout=30) as answer:
                assert answer.status == 200, (path, answer.status)
    print(f"   {len(environments)} templates fit the settings, ports and probes {', '.join(sorted(probes))}")


def load_image_script():
    """packaging/build-image, which says what is in the image."""
    path = str(REPO / "packaging/build-image")
    loader = importlib.machinery.SourceFileLoader("build_image", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("build_image", loader))
    loader.exec_module(module)
    return module


def check_names(path, settings):
    for name in re.findall(r"MAILROOM_[A-Z_]+[A-Z]", re.sub(r"SERVICE_URL_MAILROOM\w*", "", path.read_text())):
        assert name in settings, f"{path.name} names {name}, which is no setting"


def check_image(name, image):
    version = re.search(r'(?m)^version = "(.*)"', (REPO / "Cargo.toml").read_text())[1]
    assert image == f"mailroom:{version}", f"{name} has the image {image} and not that of {version}"
    for archive in re.findall(r"mailroom-(.*)-image-", (EXAMPLES / name).read_text()):
        assert archive == version, f"{name} loads the image of {archive}"


def check_compose(name, image):
    """The settings that Mailroom gets in a Compose file."""
    template = yaml.safe_load((EXAMPLES / name).read_text())
    service = template["services"]["mailroom"]
    check_image(name, service["image"])
    mounts = dict(volume.split(":") for volume in service["volumes"])
    assert f"/{image.DATA}" in mounts.values(), f"{name} keeps no data"
    for other in template["services"].values():
        for volume in other["volumes"]:
            assert volume.split(":")[0] in template["volumes"], f"{name} does not declare {volume}"
        for needed in other.get("depends_on", {}):
            assert "healthcheck" in template["services"][needed], f"{name}: nothing says when {needed} is healthy"
    for port in service["ports"]:
        assert int(port.split(":")[-1]) in image.PORTS, f"{name} leads to {port}, where nobody listens"
    text = (EXAMPLES / name).read_text()
    for port in re.findall(r"mailroom:([0-9]+)\"", text) + re.findall(r"SERVICE_URL_MAILROOM_([0-9]+)", text):
        assert int(port) == image.PORTS[0], f"{name} leads to {port}, where no pages are"
    given = service["environment"]
    if isinstance(given, list):
        given = dict(entry.split("=", 1) for entry in given if "=" in entry)
    if subnets := template.get("networks"):
        (network,) = subnets["default"]["ipam"]["config"]
        assert given["MAILROOM_TRUSTED_PROXIES"] == network["subnet"], f"{name} trusts another network"
    return given


def check_kubernetes(image):
    """The settings that Mailroom gets, and the paths of the probes."""
    objects = list(yaml.safe_load_all((EXAMPLES / KUBERNETES).read_text()))
    of = lambda kind: [found for found in objects if found["kind"] == kind]  # noqa: E731
    (workload,), (claim,), services = of("StatefulSet"), of("PersistentVolumeClaim"), of("Service")
    template = workload["spec"]["template"]
    pod, labels = template["spec"], template["metadata"]["labels"]
    (container,) = pod["containers"]
    check_image(KUBERNETES, container["image"])
    assert workload["spec"]["replicas"] == 1, "one server works on a data folder at a time"
    assert workload["spec"]["selector"]["matchLabels"] == labels
    assert pod["securityContext"]["runAsUser"] == pod["securityContext"]["fsGroup"] == image.USER_ID
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    mounts = {mount["mountPath"]: volumes[mount["name"]] for mount in container["volumeMounts"]}
    assert mounts[f"/{image.DATA}"]["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    given = {variable["name"]: variable["value"] for variable in container["env"]}
    metrics = int(given["MAILROOM_METRICS_LISTEN"].rsplit(":", 1)[1])
    assert ports == {"http": image.PORTS[0], "smtp": image.PORTS[1], "metrics": metrics}, ports
    for service in services:
        assert service["spec"]["selector"] == labels
        for port in service["spec"]["ports"]:
            assert port["targetPort"] in ports, port
    assert workload["spec"]["serviceName"] in {service["metadata"]["name"] for service in services}
    probes = [container[f"{kind}Probe"]["httpGet"] for kind in ("startup", "liveness", "readiness")]
    assert {probe["port"] for probe in probes} == {"http"}
    return given, {probe["path"] for probe in probes}


def check_settings(binary, folder, name, given):
    """The program takes them. The database of another container is not there, so it is left out."""
    given = {setting: CHOSEN.get(value, value) for setting, value in given.items()}
    url = given.pop("MAILROOM_DATABASE_URL", "postgres://")
    assert url.startswith("postgres://"), f"{name}: {url}"
    kept = {one: value for one, value in os.environ.items() if not one.startswith("MAILROOM_")}
    done = subprocess.run(
        [binary, "self-check", "--data", folder / "data"], env=kept | given, capture_output=True, text=True
    )
    assert done.returncode != WRONG_SETTING, f"{name}: {done.stdout}{done.stderr}"


if __name__ == "__main__":
    main()
