/**
 * The config file, `$XDG_CONFIG_HOME/weft/config.json`. It has tokens in it: nobody but its owner may read it, and one
 * that others can read is not used, so that nobody goes on without noticing.
 */
import { homedir, platform } from "node:os"
import { Config, Context, Effect, FileSystem, Layer, Option, Path, type PlatformError, Schema } from "effect"
import { type Failure, failure } from "../Failure.ts"
import { parseJson } from "../project/JsonFile.ts"
import { emptyBook, ProfileBook } from "./ProfileBook.ts"

export class Profiles extends Context.Service<
  Profiles,
  {
    readonly file: string
    /** Empty when there is no file. */
    readonly read: Effect.Effect<ProfileBook, Failure>
    /** Whole or not at all; the file is made with mode 0600, its folder with 0700. */
    readonly write: (book: ProfileBook) => Effect.Effect<void, Failure>
  }
>()("weft/profiles/Profiles") {
  static readonly layer = Layer.effect(
    Profiles,
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const configHome = yield* Effect.orDie(Config.option(Config.String("XDG_CONFIG_HOME")))
      const folder = path.join(
        Option.getOrElse(configHome, () => path.join(homedir(), ".config")),
        "weft"
      )
      const file = path.join(folder, "config.json")
      const unusable = (error: PlatformError.PlatformError) =>
        failure("config", `The config file ${file} cannot be used: ${error.message}`)

      const checkMode = Effect.gen(function* () {
        if (platform() === "win32") return
        const { mode } = yield* fs.stat(file)
        if ((mode & 0o077) !== 0) {
          return yield* failure(
            "config",
            `${file} can be read by others, and there are tokens in it`,
            `chmod 600 ${file}`
          )
        }
      })

      return Profiles.of({
        file,
        read: Effect.gen(function* () {
          if (!(yield* fs.exists(file))) return emptyBook
          yield* checkMode
          return yield* parseJson("config", file, ProfileBook, yield* fs.readFileString(file))
        }).pipe(Effect.catchTag("PlatformError", (error) => Effect.fail(unusable(error)))),
        write: Effect.fnUntraced(
          function* (book) {
            yield* fs.makeDirectory(folder, { recursive: true, mode: 0o700 })
            const draft = yield* fs.makeTempFile({ directory: folder, prefix: "config-" })
            const text = JSON.stringify(Schema.encodeSync(ProfileBook)(book), null, 2)
            yield* fs.chmod(draft, 0o600)
            yield* fs.writeFileString(draft, `${text}\n`)
            yield* fs.rename(draft, file)
          },
          Effect.catchTag("PlatformError", (error) => Effect.fail(unusable(error)))
        )
      })
    })
  )
}
