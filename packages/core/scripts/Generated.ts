/** The files that derive from the table of operations. See `docs/design/svc.md`. */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { derivedOperations } from "../src/runtime/svc/SvcMethods.ts"
import { guestCode } from "./GuestCode.ts"
import { groupsOf } from "./MethodCode.ts"
import { sdkTypes } from "./SdkTypes.ts"
import { testKitCode } from "./TestKitCode.ts"

export const root = fileURLToPath(new URL("../../..", import.meta.url))

const biome = join(root, "node_modules/.bin/biome")

type File = readonly [path: string, text: string]

/** Formats all files at once, because starting the formatter is slow. */
const formatted = (files: ReadonlyArray<File>): ReadonlyArray<File> => {
  const folder = mkdtempSync(join(tmpdir(), "weft-svc-"))
  try {
    for (const [path, text] of files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    execFileSync(biome, ["check", "--write", "--vcs-enabled=false", `--config-path=${root}`, folder], { stdio: "pipe" })
    return files.map(([path]) => [path, readFileSync(join(folder, path), "utf8")] as const)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const origin = "Generated from the table of operations: `npm run generate -w packages/core`."

/** Returns paths from the root of the repository, and texts. */
export const generated = (): ReadonlyArray<File> => {
  const groups = groupsOf(derivedOperations)
  return formatted([
    ["packages/sandbox/src/guest/kernel/operations.ts", guestCode(origin, groups)],
    ["packages/sdk/src/SvcOperations.ts", sdkTypes(origin, groups)],
    ["packages/sdk/src/testing/operations.ts", testKitCode(origin, groups)]
  ])
}
