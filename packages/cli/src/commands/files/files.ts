/** `weft files`: files of the environment. */
import type { File } from "@weft/client"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { parseDuration } from "../../input/Duration.ts"
import { switchFlag } from "../../input/Switch.ts"
import { Output } from "../../output/Output.ts"
import { bytes } from "../../output/Sizes.ts"
import type { Column } from "../../output/Table.ts"
import { localTime } from "../../output/Times.ts"
import { listingFlags, loadPages, printTable } from "../Lists.ts"
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
      Argument.withDescription("Only paths with this prefix"),
      Argument.withDefault("")
    ),
    ...listingFlags
  },
  Effect.fnUntraced(function* ({ prefix, ...range }) {
    const api = yield* Api
    const query = prefix === "" ? {} : { prefix }
    const files = yield* api.request((weft, options) =>
      loadPages(range, (page) => weft.files.list({ ...query, ...page }, options))
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
    recursive: switchFlag("recursive", "Delete all files below a folder", "r")
  },
  Effect.fnUntraced(function* ({ paths, recursive }) {
    const api = yield* Api
    const output = yield* Output
    for (const path of paths) {
      for (const file of recursive ? yield* findFolder(path) : [yield* findFile(path)]) {
        yield* api.request((weft, options) => weft.files.remove(file.file_id, options))
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
      Flag.filterMap(parseDuration, (text) => `Expected: a time such as 15m, 12h or 7d, not ${text}`),
      Flag.withDescription("Lifetime of the link, such as 15m, 12h or 7d; 1 hour by default"),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ path, expires }) {
    const api = yield* Api
    const output = yield* Output
    const file = yield* findFile(path)
    const link = yield* api.request((weft, options) =>
      weft.files.link(file.file_id, { expires_in: Option.getOrUndefined(expires) }, options)
    )
    yield* output.print(link, () => link.url)
  })
).pipe(
  Command.withDescription("Create and print a link by which anyone can download a file"),
  Command.withExamples([{ command: "weft files url videos/launch.mp4 --expires 7d" }])
)

export const files = Command.make("files").pipe(
  Command.withDescription("Upload, download, share and delete files of the environment"),
  Command.withSubcommands([list, put, get, rm, url])
)
