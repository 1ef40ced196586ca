/**
 * The config file, `$XDG_CONFIG_HOME/weft/config.json`. It contains tokens, so only its owner may read it. Commands
 * reject a file that other users can read.
 */
import { homedir, platform } from "node:os"
import { Config, Context, Effect, FileSystem, Layer, Option, Path, type PlatformError, Schema } from "effect"
import { type Failure, failure } from "../Failure.ts"
import { parseJson } from "../project/JsonFile.ts"
import { emptyConfig, ProfilesConfig } from "./ProfilesConfig.ts"

export class Profiles extends Context.Service<
  Profiles,
  {
    readonly file: string
    /** Reads the config file; empty if it does not exist. */
    readonly read: Effect.Effect<ProfilesConfig, Failure>
    /** Replaces the config file atomically. Its mode is 0600, that of its folder 0700. */
    readonly write: (config: ProfilesConfig) => Effect.Effect<void, Failure>
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
          return yield* failure("config", `${file} contains tokens, but other users can read it`, `chmod 600 ${file}`)
        }
      })

      return Profiles.of({
        file,
        read: Effect.gen(function* () {
          if (!(yield* fs.exists(file))) return emptyConfig
          yield* checkMode
          return yield* parseJson("config", file, ProfilesConfig, yield* fs.readFileString(file))
        }).pipe(Effect.catchTag("PlatformError", (error) => Effect.fail(unusable(error)))),
        write: Effect.fnUntraced(
          function* (config) {
            yield* fs.makeDirectory(folder, { recursive: true, mode: 0o700 })
            const draft = yield* fs.makeTempFile({ directory: folder, prefix: "config-" })
            const text = JSON.stringify(Schema.encodeSync(ProfilesConfig)(config), null, 2)
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
