/** Capabilities of a build: all that its code uses and declares, and how they differ from those of another one. Pure. */
import { noUses } from "./CodeUses.ts"
import { endpointName, type Manifest } from "./Manifest.ts"

/** Names by kind, sorted. `*` stands for names that the code computes. */
export interface BuildCapabilities {
  /** Hosts of requests. */
  readonly hosts: ReadonlyArray<string>
  readonly host_functions: ReadonlyArray<string>
  readonly secrets: ReadonlyArray<string>
  /** `read` and `write`. */
  readonly files: ReadonlyArray<string>
  /** Types of published events. */
  readonly publishes: ReadonlyArray<string>
  /** Types of handled events. */
  readonly handles: ReadonlyArray<string>
  readonly schedules: ReadonlyArray<string>
  readonly endpoints: ReadonlyArray<string>
  /** Tools, resources and prompts of models. */
  readonly tools: ReadonlyArray<string>
}

/** Returns the capabilities of a build. */
export const toCapabilities = (manifest: Manifest): BuildCapabilities => ({
  ...(manifest.uses ?? noUses),
  handles: toNames(manifest.handlers.map(({ event_type }) => event_type)),
  schedules: toNames(manifest.schedules.map(({ ns, var: name, cron }) => `${ns}/${name} ${cron}`)),
  endpoints: toNames(manifest.endpoints.map(endpointName)),
  tools: toNames([
    ...manifest.tools.map(({ service, name }) => `${service}/${name}`),
    ...manifest.resources.map(({ service, uri }) => `${service} ${uri}`),
    ...manifest.prompts.map(({ service, name }) => `${service} prompt ${name}`)
  ])
})

const toNames = (names: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(names)].sort()

/** The capabilities of a project without a deployed build. */
export const noCapabilities: BuildCapabilities = { ...noUses, handles: [], schedules: [], endpoints: [], tools: [] }

/** Returns the capabilities of the first build that the second one lacks. */
export const withoutCapabilities = (all: BuildCapabilities, some: BuildCapabilities): BuildCapabilities => {
  const subtract = (kind: keyof BuildCapabilities) => all[kind].filter((name) => !some[kind].includes(name))
  return {
    hosts: subtract("hosts"),
    host_functions: subtract("host_functions"),
    secrets: subtract("secrets"),
    files: subtract("files"),
    publishes: subtract("publishes"),
    handles: subtract("handles"),
    schedules: subtract("schedules"),
    endpoints: subtract("endpoints"),
    tools: subtract("tools")
  }
}
