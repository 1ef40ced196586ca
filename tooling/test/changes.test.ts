import { expect, it } from "vitest"
import { readChange, withChanges } from "../src/changes/Changelog.ts"

const page = "# Changelog\n\n## Unreleased\n\n### Renamed\n\n- a to b\n\n## 0.1.0\n"

it("The text of a changeset is what follows its list of packages", () => {
  expect(readChange(`---\n"weft": minor\n---\n\nAdds a thing.\n\nIt is new.\n`)).toBe("Adds a thing.\n\nIt is new.")
})

it("Changes are added to the unreleased part of the changelog, each below the earlier ones", () => {
  const once = withChanges(page, ["Adds a\nthing."])
  expect(once).toBe(page.replace("### Renamed", "### Changes\n\n- Adds a\n  thing.\n\n### Renamed"))
  expect(withChanges(once, ["Adds b."])).toBe(once.replace("  thing.\n", "  thing.\n- Adds b.\n"))
  expect(() => withChanges("# Changelog\n", ["Adds a."])).toThrow("## Unreleased")
})
