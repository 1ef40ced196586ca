/** Permission presets of the specification. A preset adds rules and never replaces existing ones. */
import type { Permissions } from "@weft/client"
import type { Texts } from "../text/en.ts"

export type PresetName = keyof Texts["access"]["presets"]

const presets: Readonly<Record<PresetName, Permissions>> = {
  readOnly: { "run:*": ["read"], "stream:*": ["read"], "event:*": ["read"], "build:*": ["read"] },
  mcp: { "mcp:*": ["execute"] },
  events: { "event:*": ["create", "read"] },
  builds: { "build:*": ["create", "read"] },
  context: { "context:*": ["create", "read", "update", "delete"] },
  webhooks: { "webhook:*": ["execute"] }
}

/** Returns the permissions of all presets together. */
export const combine = (names: ReadonlyArray<PresetName>): Permissions => {
  const combined = new Map<string, ReadonlyArray<string>>()
  for (const name of names) {
    for (const [resource, actions] of Object.entries(presets[name])) {
      combined.set(resource, [...new Set([...(combined.get(resource) ?? []), ...actions])])
    }
  }
  return Object.fromEntries(combined)
}
