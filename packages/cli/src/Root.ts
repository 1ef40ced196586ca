/** The command `weft` with all of its subcommands. */
import { Layer } from "effect"
import { Command } from "effect/cli"
import { login } from "./commands/login/login.ts"
import { profiles } from "./commands/profiles/profiles.ts"
import { Api } from "./connection/Api.ts"
import { globalFlags } from "./GlobalFlags.ts"
import { Output } from "./output/Output.ts"
import { Profiles } from "./profiles/Profiles.ts"

/** What every command can use. */
const services = Layer.provideMerge(Api.layer, Layer.mergeAll(Output.layer, Profiles.layer))

export const root = Command.make("weft").pipe(
  Command.withDescription("Workflow automation that runs tenants' code: write, try and deploy functions"),
  Command.withSubcommands([{ group: "Access", commands: [login, profiles] }]),
  Command.provide(services),
  Command.withGlobalFlags(globalFlags)
)
