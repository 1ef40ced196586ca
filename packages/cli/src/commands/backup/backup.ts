/** `weft backup`: backups of servers on SQLite and a folder, and manifests for others. */
import { Effect, Path } from "effect"
import { Command } from "effect/cli"
import manifest from "../../../package.json" with { type: "json" }
import { Output } from "../../output/Output.ts"
import { bytes } from "../../output/Sizes.ts"
import { backupFolder, withBackups } from "./BackupFlags.ts"
import { create } from "./create.ts"
import { restore } from "./restore.ts"

const verify = Command.make(
  "verify",
  { folder: backupFolder },
  Effect.fnUntraced(function* ({ folder }) {
    const path = yield* Path.Path
    const output = yield* Output
    const { header, ...found } = yield* withBackups("Reading…", ({ verifyBackup }) =>
      verifyBackup(path.resolve(folder))
    )
    yield* output.print(
      { ...found, ...header },
      () => `${found.files} files, ${bytes(found.bytes)}, are as they were at ${header.created_at}`
    )
  })
).pipe(
  Command.withDescription("Read a whole backup and compare it with its checksums"),
  Command.withExamples([{ command: "weft backup verify /backups/monday" }])
)

const describe = Command.make(
  "manifest",
  { folder: backupFolder },
  Effect.fnUntraced(function* ({ folder }) {
    const path = yield* Path.Path
    const output = yield* Output
    const files = yield* withBackups("Reading…", ({ describeBackup }) =>
      describeBackup(path.resolve(folder), manifest.version)
    )
    yield* output.print({ files }, () => `Stored the checksums of ${files} files`)
  })
).pipe(
  Command.withDescription("Store the checksums of a folder that other programs filled, such as pg_dump"),
  Command.withExamples([{ command: "weft backup manifest /backups/monday" }])
)

export const backup = Command.make("backup").pipe(
  Command.withDescription("Back up, verify and restore the data of a server"),
  Command.withSubcommands([create, verify, restore, describe])
)
