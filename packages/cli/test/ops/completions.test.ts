import { spawnSync } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import { generateCompletions } from "../../src/completion/Completions.ts"
import { root } from "../../src/Root.ts"

/** Returns the completions of bash for the last word, in a folder that contains `package.json`. */
const offered = (...words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const ask = `
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=\${#COMP_LINE}
    _weft weft "\${COMP_WORDS[COMP_CWORD]}" "\${COMP_WORDS[COMP_CWORD-1]}"
    printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, stderr, status } = spawnSync("bash", ["--norc", "-s", "--", "weft", ...words], {
    input: `${generateCompletions(root, "bash")}\n${ask}`,
    encoding: "utf8",
    cwd: new URL("../..", import.meta.url)
  })
  assert.strictEqual(status, 0, stderr)
  return stdout.split("\n").filter((line) => line !== "")
}

describe("weft --completions bash", () => {
  it("offers commands, their flags, the values of flags, and files", () => {
    assert.deepStrictEqual(offered("ev"), ["eval", "events"])
    assert.deepStrictEqual(offered("runs", ""), ["list", "get", "show", "cancel", "wake", "replay", "stats", "series"])
    assert.deepStrictEqual(offered("runs", "list", "--s"), ["--status", "--since"])
    assert.deepStrictEqual(offered("runs", "list", "--status", "f"), ["failed"])
    assert.deepStrictEqual(offered("logs", "--status", "failed", "--fo"), ["--follow"])
    assert.deepStrictEqual(offered("files", "put", "package.j"), ["package.json"])
    assert.deepStrictEqual(offered("run", "main/add", "--file", "package.j"), ["package.json"])
  })

  it("offers the global flags", () => {
    assert.deepStrictEqual(offered("admin", "orgs", "list", "--js"), ["--json"])
    assert.deepStrictEqual(offered("--pro"), ["--profile"])
  })
})

describe("the other shells", () => {
  it("have scripts with all commands", () => {
    for (const shell of ["zsh", "fish", "powershell"] as const) {
      const script = generateCompletions(root, shell)
      for (const command of root.subcommands.flatMap(({ commands }) => commands)) {
        assert.include(script, command.name, shell)
      }
    }
  })
})
