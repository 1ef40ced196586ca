/** `weft init`: creates a project. */
import { Effect, FileSystem, Option, Path } from "effect"
import { Argument, Command } from "effect/cli"
import { failure, usageError } from "../../Failure.ts"
import { Output } from "../../output/Output.ts"
import { renderTemplate } from "./Template.ts"

const name = Argument.String("name").pipe(
  Argument.withDescription("Name of the project and of its new folder; by default the current folder"),
  Argument.optional
)

/** Names that are valid as package, URL segment and folder. */
const usable = /^[a-z][a-z0-9-]{0,62}$/

export const init = Command.make(
  "init",
  { name },
  Effect.fnUntraced(function* ({ name }) {
    const path = yield* Path.Path
    const output = yield* Output
    const folder = path.resolve(Option.getOrElse(name, () => "."))
    const project = yield* Option.match(name, {
      onNone: () => Effect.succeed(deriveName(path.basename(folder))),
      onSome: checkName
    })
    const files = renderTemplate(project)
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
  Command.withDescription("Create a project with a webhook, an event handler, a schedule and a test"),
  Command.withExamples([{ command: "weft init shop", description: "In the new folder shop" }])
)

const checkName = (name: string) =>
  usable.test(name)
    ? Effect.succeed(name)
    : Effect.fail(
        usageError(`${JSON.stringify(name)} is not a valid project name`, "use lowercase letters, digits and hyphens")
      )

/** Converts the name of the folder into a valid project name. */
const deriveName = (folder: string): string => {
  const name = folder
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^[^a-z]+|-+$/g, "")
    .slice(0, 63)
  return usable.test(name) ? name : "project"
}

/** Writes all files. Writes nothing if one of them exists. */
const write = Effect.fnUntraced(
  function* (folder: string, files: Readonly<Record<string, string>>) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    for (const name of Object.keys(files)) {
      if (yield* fs.exists(path.join(folder, name))) {
        return yield* failure(
          "exists",
          `${folder} already contains ${name}; nothing was written`,
          "create the project in a new folder: `weft init <name>`"
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
