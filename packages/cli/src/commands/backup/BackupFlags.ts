/** Flags of the commands about backups, and their failures. */
import { Effect } from "effect"
import { Argument, Flag } from "effect/cli"
import { type Failure, failure } from "../../Failure.ts"
import { Output } from "../../output/Output.ts"
import { dataFolder } from "../server/server.ts"

export const backupFolder = Argument.String("folder").pipe(Argument.withDescription("Folder of the backup"))

export const dataFlag = (description: string) =>
  Flag.String("data").pipe(
    Flag.withMetavar("folder"),
    Flag.withDescription(`${description} (default: ${dataFolder})`),
    Flag.withDefault(dataFolder)
  )

/** Loads the module of backups and runs an operation of it, with a line of progress on the terminal. */
export const withBackups = <A>(
  progress: string,
  run: (backups: typeof import("../../hosting/Backups.ts")) => Promise<A>
): Effect.Effect<A, Failure, Output> =>
  Effect.gen(function* () {
    const output = yield* Output
    yield* output.status(progress)
    return yield* Effect.tryPromise({
      try: async () => run(await import("../../hosting/Backups.ts")),
      catch: toBackupFailure
    }).pipe(Effect.ensuring(output.status(null)))
  })

const toBackupFailure = (error: unknown): Failure => {
  if (!(error instanceof Error)) throw error
  const remedy = "remedy" in error && typeof error.remedy === "string" ? error.remedy : null
  return failure("backup", error.message, remedy)
}
