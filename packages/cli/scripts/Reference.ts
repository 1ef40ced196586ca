/** Generates the table of all commands in `docs/cli.md`: `npm run reference -w packages/cli`. */
import { readFileSync } from "node:fs"
import { type Command, Completions } from "effect/cli"
import { root } from "../src/Root.ts"

export const page = new URL("../../../docs/cli.md", import.meta.url)

const [begin, end] = ["<!-- commands -->\n", "<!-- /commands -->\n"]

const formatArgument = ({ name, required, variadic }: Completions.ArgumentDescriptor): string => {
  if (variadic) return `${name}…`
  return required ? `<${name}>` : `[${name}]`
}

/** False for the arguments that commands declare only to reject secrets. */
const isAccepted = ({ description }: Completions.ArgumentDescriptor): boolean =>
  description?.startsWith("Rejected:") !== true

/** Separates choices by commas, because a bar would end the table cell. */
const formatFlag = ({ name, type }: Completions.FlagDescriptor): string =>
  type._tag === "Choice" ? `\`--${name} (${type.values.join(", ")})\`` : `\`--${name}\``

const listRows = (command: Completions.CommandDescriptor, path: string): ReadonlyArray<string> => {
  const name = `${path} ${command.name}`
  if (command.subcommands.length > 0) return command.subcommands.flatMap((one) => listRows(one, name))
  const usage = [name, ...command.arguments.filter(isAccepted).map(formatArgument)].join(" ")
  return [`| \`${usage}\` | ${command.description ?? ""} | ${command.flags.map(formatFlag).join(", ")} |`]
}

const renderTable = (group: string, commands: ReadonlyArray<Command.Command.Any>): string =>
  [
    `**${group}**\n`,
    "| Command | | Flags |",
    "|---|---|---|",
    ...commands.flatMap((command) => listRows(Completions.fromCommand(command), root.name)),
    ""
  ].join("\n")

const reference = (): string =>
  root.subcommands.map(({ group, commands }) => renderTable(group ?? "Others", commands)).join("\n")

/** Returns the page with the current table. */
export const pageWithReference = (): string => {
  const text = readFileSync(page, "utf8")
  const [before = "", rest = ""] = text.split(begin)
  const [, after = ""] = rest.split(end)
  return `${before}${begin}${reference()}${end}${after}`
}
