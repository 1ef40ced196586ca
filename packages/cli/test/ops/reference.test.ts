import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import type { Command } from "effect/cli"
import { page, pageWithReference } from "../../scripts/Reference.ts"
import { root } from "../../src/Root.ts"

/** Lists the commands without subcommands, by their full names. */
const commandsBelow = (
  command: Command.Command.Any,
  path: string
): ReadonlyArray<readonly [typed: string, command: Command.Command.Any]> => {
  const below = command.subcommands.flatMap(({ commands }) => commands)
  return below.length === 0 ? [[path, command]] : below.flatMap((one) => commandsBelow(one, `${path} ${one.name}`))
}

describe("docs/cli.md", () => {
  it("has the current table of all commands (update it with: npm run reference -w packages/cli)", () => {
    assert.strictEqual(readFileSync(page, "utf8"), pageWithReference())
  })
})

describe("the help of every command", () => {
  const commands = commandsBelow(root, root.name)

  it("has a description and examples", () => {
    assert.isAbove(commands.length, 40)
    for (const [typed, { description = "", examples }] of commands) {
      assert.match(description, /^[A-Z]/, typed)
      assert.isNotEmpty(examples, typed)
      for (const { command } of examples) assert.include(command, typed)
    }
  })
})
