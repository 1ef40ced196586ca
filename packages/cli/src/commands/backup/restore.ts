import { Config, Effect, Option, Path } from "effect"
import { Command, Flag } from "effect/cli"
import { Output } from "../../output/Output.ts"
import { bytes } from "../../output/Sizes.ts"
import { backupFolder, dataFlag, withBackups } from "./BackupFlags.ts"

const variable = (name: string) =>
  Effect.map(Effect.orDie(Config.option(Config.String(name))), (value) => Option.getOrElse(value, () => ""))

/** Reads the master keys as the server does: the current one, then former ones. */
const readKeys = Effect.gen(function* () {
  const keys = [yield* variable("WEFT_MASTER_KEY"), ...(yield* variable("WEFT_MASTER_KEY_PREVIOUS")).split(",")]
  return keys.map((key) => key.trim()).filter((key) => key !== "")
})

export const restore = Command.make(
  "restore",
  {
    folder: backupFolder,
    data: dataFlag("New data directory, empty or missing"),
    masterKey: Flag.String("master-key").pipe(
      Flag.withMetavar("file"),
      Flag.withDescription("File of the master key, which is copied; without it the key is read from WEFT_MASTER_KEY"),
      Flag.optional
    ),
    lostKeys: Flag.String("lost-key").pipe(
      Flag.withMetavar("id"),
      Flag.withDescription("Id of a lost master key, whose secrets stay unreadable; repeat it for each"),
      Flag.atLeast(0)
    )
  },
  Effect.fnUntraced(function* ({ folder, data, masterKey, lostKeys }) {
    const path = yield* Path.Path
    const output = yield* Output
    const options = {
      folder: path.resolve(folder),
      data: path.resolve(data),
      keyFile: Option.getOrNull(Option.map(masterKey, (file) => path.resolve(file))),
      keys: yield* readKeys,
      lostKeys
    }
    const { header, ...restored } = yield* withBackups("Restoring…", ({ restoreBackup }) => restoreBackup(options))
    yield* output.print(
      { data: options.data, ...restored, created_at: header.created_at },
      () => `Restored ${restored.files} files, ${bytes(restored.bytes)}, as of ${header.created_at}`
    )
    yield* output.note(
      "Before you start a server on them, stop the server that made the backup: both would run the same"
    )
  })
).pipe(
  Command.withDescription("Restore a backup into a new data directory, and verify it meanwhile"),
  Command.withExamples([
    { command: "weft backup restore /backups/monday --data /var/lib/weft --master-key /keys/master.key" }
  ])
)
