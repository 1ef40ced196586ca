/** Scripts by which shells complete `weft`. */
import { Console, Effect, Option } from "effect"
import { Command, Completions, GlobalFlag } from "effect/cli"
import { Json, ProfileName, Url } from "../GlobalFlags.ts"

/** Arguments and flags that name files or folders here, though they are text: `-` is one as well. */
const paths: ReadonlySet<string> = new Set(["source", "destination", "file"])

const path = { _tag: "Path", pathType: "either" } as const

/** Flags that all commands take, which are not among the flags of any. */
const globals = Completions.fromCommand(
  Command.make("globals", { json: Json.flag, profile: ProfileName.flag, url: Url.flag, help: GlobalFlag.Help.flag })
).flags

const isText = ({ name, type }: { readonly name: string; readonly type: { readonly _tag: string } }): boolean =>
  type._tag === "String" && paths.has(name)

const completed = (command: Completions.CommandDescriptor): Completions.CommandDescriptor => ({
  ...command,
  flags: [...command.flags.map((flag) => (isText(flag) ? { ...flag, type: path } : flag)), ...globals],
  arguments: command.arguments.map((argument) => (isText(argument) ? { ...argument, type: path } : argument)),
  subcommands: command.subcommands.map(completed)
})

export const completionsOf = (command: Command.Command.Any, shell: Completions.Shell): string =>
  Completions.generate(command.name, shell, completed(Completions.fromCommand(command)))

/** `--completions`, which knows the flags of all commands too. */
export const CompletionsFlag: typeof GlobalFlag.Completions = GlobalFlag.Action({
  flag: GlobalFlag.Completions.flag,
  run: (shell, { command }) =>
    Option.match(shell, {
      onNone: () => Effect.void,
      onSome: (name) => Console.log(completionsOf(command, name))
    })
})
