"""Writes the bill of materials (CycloneDX 1.5) and the licences of what the program is made of.

    cargo metadata --format-version=1 --filter-platform … | materials.py FOLDER

One line for each platform; what is linked on any of them is named.
"""

import json
import sys
from pathlib import Path

PROGRAM = "mailroom"


def main():
    out = Path(sys.argv[1])
    packages, edges = {}, {}
    for line in sys.stdin:
        told = json.loads(line)
        packages.update({package["id"]: package for package in told["packages"]})
        for node in told["resolve"]["nodes"]:
            edges.setdefault(node["id"], set()).update(linked(node))
    root = next(one for one, package in packages.items() if package["name"] == PROGRAM)
    used, waiting = {root}, [root]
    while waiting:
        new = [found for found in edges[waiting.pop()] if found not in used]
        used.update(new)
        waiting.extend(new)
    parts = sorted((packages[one] for one in used), key=lambda package: (package["name"], package["version"]))
    whole = packages[root]
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": component(whole, "application")},
        "components": [component(part, "library") for part in parts if part["id"] != root],
        "dependencies": [
            {"ref": purl(part), "dependsOn": sorted(purl(packages[one]) for one in edges[part["id"]] if one in used)}
            for part in parts
        ],
    }
    (out / "mailroom.cdx.json").write_text(json.dumps(bill, indent=1) + "\n")
    lines = [f"{part['name']} {part['version']}: {licence(part)}\n" for part in parts if part["source"]]
    (out / "licences.txt").write_text("".join(lines))
    missing = [part["name"] for part in parts if part["source"] and not part["license"] and not part["license_file"]]
    if missing:
        raise SystemExit(f"no licence: {missing}")


def linked(node):
    """What a package is made of, without what only its tests and its build need."""
    return [
        dependency["pkg"]
        for dependency in node["deps"]
        if any(kind["kind"] is None for kind in dependency["dep_kinds"])
    ]


def purl(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def licence(package):
    return package["license"] or f"see {package['license_file']}"


def component(package, kind):
    told = {"type": kind, "bom-ref": purl(package), "name": package["name"], "version": package["version"]}
    told["purl"] = purl(package)
    if package["license"]:
        told["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    return told


if __name__ == "__main__":
    main()
