/** Stores of secrets with one fault each, which the contracts must detect. */
import { contextVariableStoreChecks, sealedStoreChecks } from "@weft/contract"
import { ContextVariableStore, ProjectStore, Sealed, SealedStore } from "@weft/core/adapter"
import { Effect } from "effect"
import { envId } from "../src/Samples.ts"
import { detects, faulty } from "./Faults.ts"

detects("the contract of context variables", contextVariableStoreChecks, {
  "reads other environments": faulty(ContextVariableStore, (store) => ({
    get: (_, project, key) => store.get(envId(1), project, key)
  })),
  "lists other environments": faulty(ContextVariableStore, (store) => ({
    list: (_, project, page) => store.list(envId(1), project, page)
  })),
  "returns all variables of other environments": faulty(ContextVariableStore, (store) => ({
    all: (_, project) => store.all(envId(1), project)
  })),
  "updates variables of other environments": faulty(ContextVariableStore, (store) => ({
    update: (_, project, key, change) => store.update(envId(1), project, key, change)
  })),
  "removes from other environments": faulty(ContextVariableStore, (store) => ({
    remove: (_, project, key) => store.remove(envId(1), project, key)
  })),
  "accepts existing keys": faulty(ContextVariableStore, (store) => ({
    insert: (variable) => Effect.catchTag(store.insert(variable), "Taken", () => Effect.void)
  })),
  "replaces an existing variable": faulty(ContextVariableStore, (store) => ({
    insert: (variable) =>
      Effect.tapErrorTag(store.insert(variable), "Taken", () =>
        store.update(variable.env_id, variable.project_id, variable.key, variable)
      )
  })),
  "stores variables of missing projects": faulty(ContextVariableStore, (store) => ({
    insert: (variable) => Effect.catchTag(store.insert(variable), "NotFound", () => Effect.void)
  })),
  "ignores case in the order": faulty(ContextVariableStore, (store) => ({
    all: (env, project) =>
      Effect.map(store.all(env, project), (variables) =>
        [...variables].sort((a, b) => a.key.localeCompare(b.key, "en", { sensitivity: "base" }))
      )
  })),
  "returns the page size as the total": faulty(ContextVariableStore, (store) => ({
    list: (env, project, page) =>
      Effect.map(store.list(env, project, page), ({ items }) => ({ items, total: items.length }))
  })),
  "does not update the change time": faulty(ContextVariableStore, (store) => ({
    update: (env, project, key, change) =>
      Effect.flatMap(store.get(env, project, key), ({ updated_at }) =>
        store.update(env, project, key, { ...change, updated_at })
      )
  })),
  "overwrites concurrent changes": faulty(ContextVariableStore, (store) => ({
    update: (env, project, key, change) =>
      Effect.flatMap(Effect.tap(store.get(env, project, key), Effect.yieldNow), (old) =>
        store.update(env, project, key, { value: old.value, description: old.description, ...change })
      )
  })),
  "keeps variables of removed projects": faulty(ProjectStore, () => ({ remove: () => Effect.void }))
})

detects("the contract of sealed values", sealedStoreChecks, {
  "skips a table": faulty(SealedStore, (store) => ({
    sealedByOthers: (keyId, page) =>
      Effect.map(store.sealedByOthers(keyId, page), (values) =>
        values.filter(({ place }) => place.table !== "service_keys")
      )
  })),
  "also returns values of the current key": faulty(SealedStore, (store) => ({
    sealedByOthers: (_, page) => store.sealedByOthers("", page)
  })),
  "returns more values than the limit": faulty(SealedStore, (store) => ({
    sealedByOthers: (keyId, { after }) => store.sealedByOthers(keyId, { after, limit: 1000 })
  })),
  "corrupts the value": faulty(SealedStore, (store) => ({
    sealedByOthers: (keyId, page) =>
      Effect.map(store.sealedByOthers(keyId, page), (values) =>
        values.map(({ place, sealed }) => ({ place, sealed: Sealed.make(sealed.slice(1)) }))
      )
  })),
  "reports replacements that it does not make": faulty(SealedStore, () => ({ replace: () => Effect.succeed(true) })),
  "replaces changed values": faulty(SealedStore, (store) => ({
    replace: ({ place }, next) =>
      Effect.flatMap(store.sealedByOthers("", { after: null, limit: 1000 }), (values) => {
        const found = values.find((value) => value.place.table === place.table && value.place.id === place.id)
        return found === undefined ? Effect.succeed(false) : store.replace(found, next)
      })
  }))
})
