/** `weft init`: a project to begin with. */
import { Effect, FileSystem, Option, Path } from "effect"
import { Argument, Command } from "effect/cli"
import { failure, misuse } from "../../Failure.ts"
import { Output } from "../../output/Output.ts"
import { templateOf } from "./Template.ts"

const name = Argument.String("name").pipe(
  Argument.withDescription("The project, and the folder to make; without it, the folder that you are in"),
  Argument.optional
)

/** What can be a package, a part of a URL and a folder alike. */
const usable = /^[a-z][a-z0-9-]{0,62}$/

export const init = Command.make(
  "init",
  { name },
  Effect.fnUntraced(function* ({ name }) {
    const path = yield* Path.Path
    const output = yield* Output
    const folder = path.resolve(Option.getOrElse(name, () => "."))
    const project = yield* Option.match(name, {
      onNone: () => Effect.succeed(derived(path.basename(folder))),
      onSome: checked
    })
    const files = templateOf(project)
    yield* write(folder, files)
    const steps = [...(Option.isNone(name) ? [] : [`cd ${project}`]), "npm install", "npx weft dev"]
    yield* output.print({ project, folder, files: Object.keys(files), next: steps }, () =>
      [
        `Made the project ${output.paint.bold(project)}: ${Object.keys(files).join(", ")}`,
        "",
        "Next:",
        ...steps.map((step) => `  ${output.paint.cyan(step)}`)
      ].join("\n")
    )
  })
).pipe(
  Command.withDescription("Make a project that runs: a webhook, an event handler, a schedule and a test"),
  Command.withExamples([{ command: "weft init shop", description: "Make it in the new folder shop" }])
)

const checked = (name: string) =>
  usable.test(name)
    ? Effect.succeed(name)
    : Effect.fail(
        misuse(`${JSON.stringify(name)} cannot be a project's name`, "take lowercase letters, digits and hyphens")
      )

/** The folder's name, as far as it can be one of a project. */
const derived = (folder: string): string => {
  const name = folder
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^[^a-z]+|-+$/g, "")
    .slice(0, 63)
  return usable.test(name) ? name : "project"
}

/** Nothing that is there is touched: one file in the way, and none is written. */
const write = Effect.fnUntraced(
  function* (folder: string, files: Readonly<Record<string, string>>) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    for (const name of Object.keys(files)) {
      if (yield* fs.exists(path.join(folder, name))) {
        return yield* failure(
          "exists",
          `There is a ${name} in ${folder} already, and nothing is overwritten`,
          "make the project in a new folder: `weft init <name>`"
        )
      }
    }
    for (const [name, text] of Object.entries(files)) {
      yield* fs.makeDirectory(path.dirname(path.join(folder, name)), { recursive: true })
      yield* fs.writeFileString(path.join(folder, name), text, { flag: "wx" })
    }
  },
  Effect.catchTag("PlatformError", (error) =>
    Effect.fail(failure("file", `The project cannot be written: ${error.message}`))
  )
)
