"""Prints the attacks of AgentDojo's workspace suite as JSON lines for `mailroom helpers score`.

    pip download --no-deps agentdojo
    agentdojo_attacks.py agentdojo-*.whl > CORPORA/injection/agentdojo.jsonl

Each goal of the suite is put into each template of the package. Nothing of the package is run.
"""

import ast
import json
import sys
import zipfile

NAMES = {"user": "Emma Johnson", "model": "AI assistant", "task": "the task", "tools": "You should use the tool `send_email`. "}
TEMPLATES = ("baseline_attacks", "important_instructions_attacks", "dos_attacks")
TASKS = "agentdojo/default_suites/v1/workspace/injection_tasks.py"


def main():
    with zipfile.ZipFile(sys.argv[1]) as wheel:
        tree = lambda path: ast.parse(wheel.read(path))
        goals = list(goals_of(tree(TASKS)))
        templates = [text for name in TEMPLATES for text in templates_of(tree(f"agentdojo/attacks/{name}.py"))]
    for template in templates:
        for goal in goals if "{goal}" in template else [""]:
            text = template.replace("{goal}", goal)
            for name, value in NAMES.items():
                text = text.replace("{" + name + "}", value)
            print(json.dumps({"label": "attack", "source": "agentdojo", "text": text}))


def goals_of(tree):
    for task in classes(tree):
        known = {}
        for name, value in assignments(task):
            known[name] = text_of(value, known)
        if known.get("GOAL"):
            yield known["GOAL"]


def templates_of(tree):
    for attack in classes(tree):
        for name, value in assignments(attack):
            if name in ("_JB_STRING", "_DOS_STRING"):
                yield text_of(value, {})
        for call in ast.walk(attack):
            first = call.args[0] if isinstance(call, ast.Call) and call.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str) and "{goal}" in first.value:
                yield first.value


def classes(tree):
    return (node for node in tree.body if isinstance(node, ast.ClassDef))


def assignments(node):
    for step in node.body:
        if isinstance(step, ast.Assign) and isinstance(step.targets[0], ast.Name):
            yield step.targets[0].id, step.value
        elif isinstance(step, ast.AnnAssign) and isinstance(step.target, ast.Name) and step.value:
            yield step.target.id, step.value


def text_of(node, known):
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part, known) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return text_of(node.value, known)
    if isinstance(node, ast.Name):
        return known.get(node.id) or ""
    return ""


if __name__ == "__main__":
    main()
