/** Shell completion scripts. */
import { Console, Effect, Option } from "effect"
import { Command, Completions, GlobalFlag } from "effect/cli"
import { Json, PreviewName, ProfileName, Url } from "../GlobalFlags.ts"

/** Text arguments and flags that take a local path. They are not of type path because they also accept `-`. */
const paths: ReadonlySet<string> = new Set(["source", "destination", "file"])

const path = { _tag: "Path", pathType: "either" } as const

/** Flags of all commands. Descriptors of commands do not contain them. */
const globals = Completions.fromCommand(
  Command.make("globals", {
    json: Json.flag,
    profile: ProfileName.flag,
    url: Url.flag,
    preview: PreviewName.flag,
    help: GlobalFlag.Help.flag
  })
).flags

const isText = ({ name, type }: { readonly name: string; readonly type: { readonly _tag: string } }): boolean =>
  type._tag === "String" && paths.has(name)

const withPathTypes = (command: Completions.CommandDescriptor): Completions.CommandDescriptor => ({
  ...command,
  flags: [...command.flags.map((flag) => (isText(flag) ? { ...flag, type: path } : flag)), ...globals],
  arguments: command.arguments.map((argument) => (isText(argument) ? { ...argument, type: path } : argument)),
  subcommands: command.subcommands.map(withPathTypes)
})

export const generateCompletions = (command: Command.Command.Any, shell: Completions.Shell): string =>
  Completions.generate(command.name, shell, withPathTypes(Completions.fromCommand(command)))

/** The flag `--completions`. Its scripts include the global flags. */
export const CompletionsFlag: typeof GlobalFlag.Completions = GlobalFlag.Action({
  flag: GlobalFlag.Completions.flag,
  run: (shell, { command }) =>
    Option.match(shell, {
      onNone: () => Effect.void,
      onSome: (name) => Console.log(generateCompletions(command, name))
    })
})
