/** `weft previews`: lists, extends and deletes the previews of the project. */
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { Output } from "../../output/Output.ts"
import { localTime } from "../../output/Times.ts"
import { readProject } from "../../project/Project.ts"
import { listingFlags, loadPages, printTable } from "../Lists.ts"

const previewName = Argument.String("name").pipe(Argument.withDescription("The name of a preview"))

const list = Command.make(
  "list",
  listingFlags,
  Effect.fnUntraced(function* (options) {
    const { name } = yield* readProject
    const api = yield* Api
    const found = yield* api.request((weft, request) =>
      loadPages(options, (page) => weft.previews.list(name, page, request))
    )
    yield* printTable(
      [
        { title: "PREVIEW", of: (preview) => preview.name },
        { title: "URL", of: ({ url }) => url, isFlexible: true },
        { title: "EXPIRES", of: ({ expires_at }) => localTime(expires_at) },
        { title: "SCHEDULES", of: ({ schedules }) => (schedules ? "on" : "off") }
      ],
      found,
      `${name} has no previews: \`weft deploy --preview <name>\` creates one`
    )
  })
).pipe(
  Command.withDescription("List the previews of the project"),
  Command.withExamples([{ command: "weft previews list" }])
)

const ttl = Flag.String("ttl").pipe(
  Flag.withDescription("Time from now until the removal, such as 7d (the default)"),
  Flag.withDefault("7d")
)

const extend = Command.make(
  "extend",
  { previewName, ttl },
  Effect.fnUntraced(function* ({ previewName, ttl }) {
    const { name } = yield* readProject
    const api = yield* Api
    const output = yield* Output
    const preview = yield* api.request((weft, options) => weft.previews.extend(name, previewName, { ttl }, options))
    yield* output.print(preview, () => `${previewName} until ${localTime(preview.expires_at)}`)
  })
).pipe(
  Command.withDescription("Change the time until a preview is removed"),
  Command.withExamples([{ command: "weft previews extend pr-42 --ttl 2d" }])
)

const remove = Command.make(
  "delete",
  { previewName },
  Effect.fnUntraced(function* ({ previewName }) {
    const { name } = yield* readProject
    const api = yield* Api
    const output = yield* Output
    yield* api.request((weft, options) => weft.previews.remove(name, previewName, options))
    yield* output.print({ deleted: previewName }, () => `Deleted ${previewName}`)
  })
).pipe(
  Command.withDescription("Remove a preview with its runs, events, files and secrets"),
  Command.withExamples([{ command: "weft previews delete pr-42" }])
)

export const previews = Command.make("previews").pipe(
  Command.withDescription("Previews of the project, which `weft deploy --preview` creates"),
  Command.withExamples([{ command: "weft deploy --preview pr-42" }, { command: "weft previews list" }]),
  Command.withSubcommands([list, extend, remove])
)
