/**
 * The first step of `npm run changes`: adds the texts of changesets to `CHANGELOG.md`. Then `changeset version` sets the
 * version of all packages and deletes the changesets.
 */
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { readChange, withChanges } from "./Changelog.ts"

const root = fileURLToPath(new URL("../../..", import.meta.url))
const changelog = join(root, "CHANGELOG.md")

const changes = globSync(".changeset/*.md", { cwd: root })
  .sort()
  .map((path) => readChange(readFileSync(join(root, path), "utf8")))
  // `npx changeset --empty` writes a changeset without text.
  .filter((text) => text !== "")
if (changes.length === 0) throw new Error("There are no changesets in .changeset; `npx changeset` writes one")
writeFileSync(changelog, withChanges(readFileSync(changelog, "utf8"), changes))
