/** The table of all commands in `docs/cli.md`. Follows from the commands: `npm run reference -w packages/cli`. */
import { readFileSync } from "node:fs"
import { type Command, Completions } from "effect/cli"
import { root } from "../src/Root.ts"

export const page = new URL("../../../docs/cli.md", import.meta.url)

const [begin, end] = ["<!-- commands -->\n", "<!-- /commands -->\n"]

const argumentOf = ({ name, required, variadic }: Completions.ArgumentDescriptor): string => {
  if (variadic) return `${name}…`
  return required ? `<${name}>` : `[${name}]`
}

/** The value of a secret has a place in the command line so that it can be refused there. */
const isTaken = ({ description }: Completions.ArgumentDescriptor): boolean =>
  description?.startsWith("Not here") !== true

/** A bar would end the cell of the table. */
const flagOf = ({ name, type }: Completions.FlagDescriptor): string =>
  type._tag === "Choice" ? `\`--${name}\` (${type.values.join(", ")})` : `\`--${name}\``

const rowsOf = (command: Completions.CommandDescriptor, path: string): ReadonlyArray<string> => {
  const name = `${path} ${command.name}`
  if (command.subcommands.length > 0) return command.subcommands.flatMap((one) => rowsOf(one, name))
  const usage = [name, ...command.arguments.filter(isTaken).map(argumentOf)].join(" ")
  return [`| \`${usage}\` | ${command.description ?? ""} | ${command.flags.map(flagOf).join(", ")} |`]
}

const tableOf = (group: string, commands: ReadonlyArray<Command.Command.Any>): string =>
  [
    `**${group}**\n`,
    "| Command | | Flags |",
    "|---|---|---|",
    ...commands.flatMap((command) => rowsOf(Completions.fromCommand(command), root.name)),
    ""
  ].join("\n")

const reference = (): string =>
  root.subcommands.map(({ group, commands }) => tableOf(group ?? "Others", commands)).join("\n")

/** The page with the table as it should be. */
export const pageWithReference = (): string => {
  const text = readFileSync(page, "utf8")
  const [before = "", rest = ""] = text.split(begin)
  const [, after = ""] = rest.split(end)
  return `${before}${begin}${reference()}${end}${after}`
}
