import { Effect, Option, Path } from "effect"
import { Command, Flag } from "effect/cli"
import manifest from "../../../package.json" with { type: "json" }
import { failure } from "../../Failure.ts"
import { switchFlag } from "../../input/Switch.ts"
import { Output } from "../../output/Output.ts"
import { printable } from "../../output/Printable.ts"
import { bytes } from "../../output/Sizes.ts"
import { backupFolder, dataFlag, withBackups } from "./BackupFlags.ts"

export const create = Command.make(
  "create",
  {
    folder: backupFolder,
    data: dataFlag("Data directory of the server"),
    database: Flag.String("database").pipe(
      Flag.withMetavar("file"),
      Flag.withDescription("SQLite file, if it is not weft.db in the data directory"),
      Flag.optional
    ),
    blobs: Flag.String("blobs").pipe(
      Flag.withMetavar("folder"),
      Flag.withDescription("Folder of files and builds, if it is not blobs in the data directory"),
      Flag.optional
    ),
    withoutBlobs: switchFlag("without-blobs", "Only the database: files and builds are in a bucket")
  },
  Effect.fnUntraced(function* ({ folder, data, database, blobs, withoutBlobs }) {
    const path = yield* Path.Path
    const output = yield* Output
    const options = {
      folder: path.resolve(folder),
      database: path.resolve(Option.getOrElse(database, () => path.join(data, "weft.db"))),
      blobs: withoutBlobs ? null : path.resolve(Option.getOrElse(blobs, () => path.join(data, "blobs"))),
      version: manifest.version
    }
    const made = yield* withBackups("Copying…", ({ createBackup }) => createBackup(options))
    yield* output.print(
      {
        ...{ folder: options.folder, files: made.files, bytes: made.bytes },
        ...{ schema_step: made.schemaStep, key_ids: made.keyIds, lost_blobs: made.lost }
      },
      () => `Backed up ${made.files} files, ${bytes(made.bytes)}`
    )
    if (made.keyIds.length > 0) {
      yield* output.note(`Its secrets need the master key with the id ${made.keyIds.join(", ")}: keep it elsewhere`)
    }
    if (made.lost.length > 0) {
      return yield* failure(
        "backup",
        `The server itself has lost ${made.lost.length} files or builds; the backup is complete without them`,
        "restore these blobs from an earlier backup",
        made.lost.map(printable)
      )
    }
  })
).pipe(
  Command.withDescription("Back up the SQLite file and the blobs of a server of this machine, also while it runs"),
  Command.withExamples([
    { command: "weft backup create /backups/monday --data /var/lib/weft" },
    { command: "weft backup create /backups/monday --without-blobs", description: "With files and builds in a bucket" }
  ])
)
