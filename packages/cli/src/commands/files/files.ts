/** `weft files`: what is stored under paths of the environment. */
import type { File } from "@weft/client"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { lifetimeOf } from "../../input/Lifetime.ts"
import { switchFlag } from "../../input/Switch.ts"
import { Output } from "../../output/Output.ts"
import { bytes } from "../../output/Sizes.ts"
import type { Column } from "../../output/Table.ts"
import { localTime } from "../../output/Times.ts"
import { listed, listingFlags, printTable } from "../Listing.ts"
import { get } from "./get.ts"
import { put } from "./put.ts"
import { findFile, findFolder } from "./RemoteFiles.ts"

const columns: ReadonlyArray<Column<File>> = [
  { title: "PATH", of: (file) => file.path },
  { title: "SIZE", of: (file) => bytes(file.size), align: "right" },
  { title: "CHANGED", of: (file) => localTime(file.updated_at), isExtra: true },
  { title: "TYPE", of: (file) => file.content_type, isFlexible: true, isExtra: true }
]

const list = Command.make(
  "list",
  {
    prefix: Argument.String("prefix").pipe(
      Argument.withDescription("Only paths that begin so"),
      Argument.withDefault("")
    ),
    ...listingFlags
  },
  Effect.fnUntraced(function* ({ prefix, ...wanted }) {
    const api = yield* Api
    const query = prefix === "" ? {} : { prefix }
    const files = yield* api.ask((weft, asking) =>
      listed(wanted, (page) => weft.files.list({ ...query, ...page }, asking))
    )
    yield* printTable(columns, files, prefix === "" ? "There are no files" : `No path begins with ${prefix}`)
  })
).pipe(
  Command.withDescription("List files by their paths"),
  Command.withExamples([{ command: "weft files list reports/ --all" }])
)

const rm = Command.make(
  "rm",
  {
    paths: Argument.String("path").pipe(
      Argument.withDescription("Files, or folders with --recursive"),
      Argument.variadic({ min: 1 })
    ),
    recursive: switchFlag("recursive", "Delete all files below folders", "r")
  },
  Effect.fnUntraced(function* ({ paths, recursive }) {
    const api = yield* Api
    const output = yield* Output
    for (const path of paths) {
      for (const file of recursive ? yield* findFolder(path) : [yield* findFile(path)]) {
        yield* api.ask((weft, asking) => weft.files.remove(file.file_id, asking))
        yield* output.line({ removed: file.path, file_id: file.file_id }, () => `Removed ${file.path}`)
      }
    }
  })
).pipe(Command.withDescription("Delete files"), Command.withExamples([{ command: "weft files rm reports/old.csv" }]))

const url = Command.make(
  "url",
  {
    path: Argument.String("path").pipe(Argument.withDescription("A file")),
    expires: Flag.String("expires").pipe(
      Flag.withMetavar("time"),
      Flag.filterMap(lifetimeOf, (text) => `Expected: a time such as 15m, 12h or 7d, not ${text}`),
      Flag.withDescription("How long it is good, such as 15m, 12h or 7d; an hour by default"),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ path, expires }) {
    const api = yield* Api
    const output = yield* Output
    const file = yield* findFile(path)
    const link = yield* api.ask((weft, asking) =>
      weft.files.link(file.file_id, { expires_in: Option.getOrUndefined(expires) }, asking)
    )
    yield* output.print(link, () => link.url)
  })
).pipe(
  Command.withDescription("Make a link by which anyone can download a file, and print it"),
  Command.withExamples([{ command: "weft files url videos/launch.mp4 --expires 7d" }])
)

export const files = Command.make("files").pipe(
  Command.withDescription("Upload, download, share and delete files of the environment"),
  Command.withSubcommands([list, put, get, rm, url])
)
