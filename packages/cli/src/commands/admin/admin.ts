/** `weft admin`: administration with the server's admin token. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { Output } from "../../output/Output.ts"
import { apiKeys } from "./apiKeys.ts"
import { envs } from "./envs.ts"
import { nodes } from "./nodes.ts"
import { orgs } from "./orgs.ts"

const reseal = Command.make(
  "reseal",
  {},
  Effect.fnUntraced(function* () {
    const api = yield* Api
    const output = yield* Output
    yield* output.status("Encrypting…")
    const result = yield* api
      .requestAdmin((admin, options) => admin.resealSecrets(options))
      .pipe(Effect.ensuring(output.status(null)))
    yield* output.print(result, () => `Encrypted ${result.resealed} values with key ${result.key_id}`)
    if (result.unreadable > 0) {
      yield* output.note(output.paint.yellow(`No master key of the server decrypts ${result.unreadable} values`))
    }
  })
).pipe(
  Command.withDescription("Encrypt all secrets with the current master key"),
  Command.withExamples([{ command: "weft admin reseal", description: "After a change of the master key" }])
)

export const admin = Command.make("admin").pipe(
  Command.withDescription("Organizations, environments, their API keys, and nodes; needs the server's admin token"),
  Command.withSubcommands([orgs, envs, apiKeys, nodes, reseal])
)
