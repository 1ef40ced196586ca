import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { Output } from "../../output/Output.ts"
import { localTime } from "../../output/Times.ts"
import { listingFlags, loadPages, printTable } from "../Lists.ts"
import { followOperation, progressText } from "./followOperation.ts"

const operation = Argument.String("operation").pipe(Argument.withDescription("The operation's id"))

const exampleId = "01970d46-2d10-7c6e-8b1f-6e5d4c3b2a10"

const list = Command.make(
  "list",
  listingFlags,
  Effect.fnUntraced(function* (range) {
    const api = yield* Api
    const found = yield* api.request((weft, options) => loadPages(range, (page) => weft.operations.list(page, options)))
    yield* printTable(
      [
        { title: "OPERATION", of: ({ operation_id }) => operation_id },
        { title: "KIND", of: ({ kind }) => kind },
        { title: "PROGRESS", of: progressText, isFlexible: true },
        { title: "CREATED", of: ({ created_at }) => localTime(created_at) }
      ],
      found,
      "No operations"
    )
  })
).pipe(
  Command.withDescription("List operations of the last 30 days, newest first"),
  Command.withExamples([{ command: "weft operations list" }])
)

const follow = Command.make(
  "follow",
  { operation },
  Effect.fnUntraced(function* ({ operation: id }) {
    yield* followOperation(id)
  })
).pipe(
  Command.withDescription("Show the progress of an operation until it ends"),
  Command.withExamples([{ command: `weft operations follow ${exampleId}` }])
)

const cancel = Command.make(
  "cancel",
  { operation },
  Effect.fnUntraced(function* ({ operation: id }) {
    const api = yield* Api
    const output = yield* Output
    const ended = yield* api.request((weft, options) => weft.operations.cancel(id, options))
    yield* output.print(ended, () => progressText(ended))
  })
).pipe(
  Command.withDescription("End an operation; its effects stay"),
  Command.withExamples([{ command: `weft operations cancel ${exampleId}` }])
)

export const operations = Command.make("operations").pipe(
  Command.withDescription("List, follow and cancel operations on many runs"),
  Command.withSubcommands([list, follow, cancel])
)
