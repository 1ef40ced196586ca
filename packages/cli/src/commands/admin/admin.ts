/** `weft admin`: what the host does, with the server's admin token. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { Output } from "../../output/Output.ts"
import { apiKeys } from "./apiKeys.ts"
import { envs } from "./envs.ts"
import { orgs } from "./orgs.ts"

const reseal = Command.make(
  "reseal",
  {},
  Effect.fnUntraced(function* () {
    const api = yield* Api
    const output = yield* Output
    yield* output.status("Sealing anew…")
    const told = yield* api
      .askAdmin((admin, asking) => admin.resealSecrets(asking))
      .pipe(Effect.ensuring(output.status(null)))
    yield* output.print(told, () => `Sealed ${told.resealed} values anew with the key ${told.key_id}`)
    if (told.unreadable > 0) {
      yield* output.note(output.paint.yellow(`${told.unreadable} values are opened by no master key of the server`))
    }
  })
).pipe(
  Command.withDescription("Seal all secrets with the present master key"),
  Command.withExamples([{ command: "weft admin reseal", description: "After the master key has changed" }])
)

export const admin = Command.make("admin").pipe(
  Command.withDescription("Organizations, environments and their API keys; needs the server's admin token"),
  Command.withSubcommands([orgs, envs, apiKeys, reseal])
)
