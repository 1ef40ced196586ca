/** The contracts of secrets notice faulty stores. */
import { contextVariableStoreChecks, sealedStoreChecks } from "@weft/contract"
import { ContextVariableStore, ProjectStore, Sealed, SealedStore } from "@weft/core"
import { Effect } from "effect"
import { envId } from "../src/Samples.ts"
import { faulty, notices } from "./Faults.ts"

notices("the contract of context variables", contextVariableStoreChecks, {
  "reads other environments": faulty(ContextVariableStore, (store) => ({
    get: (_, project, key) => store.get(envId(1), project, key)
  })),
  "lists other environments": faulty(ContextVariableStore, (store) => ({
    list: (_, project, page) => store.list(envId(1), project, page)
  })),
  "gives functions those of other environments": faulty(ContextVariableStore, (store) => ({
    all: (_, project) => store.all(envId(1), project)
  })),
  "changes those of other environments": faulty(ContextVariableStore, (store) => ({
    update: (_, project, key, change) => store.update(envId(1), project, key, change)
  })),
  "removes from other environments": faulty(ContextVariableStore, (store) => ({
    remove: (_, project, key) => store.remove(envId(1), project, key)
  })),
  "keeps silent about taken keys": faulty(ContextVariableStore, (store) => ({
    insert: (variable) => Effect.catchTag(store.insert(variable), "Taken", () => Effect.void)
  })),
  "replaces what is there": faulty(ContextVariableStore, (store) => ({
    insert: (variable) =>
      Effect.tapErrorTag(store.insert(variable), "Taken", () =>
        store.update(variable.env_id, variable.project_id, variable.key, variable)
      )
  })),
  "stores for projects that are not there": faulty(ContextVariableStore, (store) => ({
    insert: (variable) => Effect.catchTag(store.insert(variable), "NotFound", () => Effect.void)
  })),
  "sorts without regard to case": faulty(ContextVariableStore, (store) => ({
    all: (env, project) =>
      Effect.map(store.all(env, project), (variables) =>
        [...variables].sort((a, b) => a.key.localeCompare(b.key, "en", { sensitivity: "base" }))
      )
  })),
  "takes the page for all": faulty(ContextVariableStore, (store) => ({
    list: (env, project, page) =>
      Effect.map(store.list(env, project, page), ({ items }) => ({ items, total: items.length }))
  })),
  "forgets when it was changed": faulty(ContextVariableStore, (store) => ({
    update: (env, project, key, change) =>
      Effect.flatMap(store.get(env, project, key), ({ updated_at }) =>
        store.update(env, project, key, { ...change, updated_at })
      )
  })),
  "reads, then writes it all back": faulty(ContextVariableStore, (store) => ({
    update: (env, project, key, change) =>
      Effect.flatMap(Effect.tap(store.get(env, project, key), Effect.yieldNow), (old) =>
        store.update(env, project, key, { value: old.value, description: old.description, ...change })
      )
  })),
  "keeps those of removed projects": faulty(ProjectStore, () => ({ remove: () => Effect.void }))
})

notices("the contract of sealed values", sealedStoreChecks, {
  "passes a table over": faulty(SealedStore, (store) => ({
    sealedByOthers: (keyId, page) =>
      Effect.map(store.sealedByOthers(keyId, page), (values) =>
        values.filter(({ place }) => place.table !== "service_keys")
      )
  })),
  "gives those of the current key too": faulty(SealedStore, (store) => ({
    sealedByOthers: (_, page) => store.sealedByOthers("", page)
  })),
  "gives more than it was asked for": faulty(SealedStore, (store) => ({
    sealedByOthers: (keyId, { after }) => store.sealedByOthers(keyId, { after, limit: 1000 })
  })),
  "spoils the value": faulty(SealedStore, (store) => ({
    sealedByOthers: (keyId, page) =>
      Effect.map(store.sealedByOthers(keyId, page), (values) =>
        values.map(({ place, sealed }) => ({ place, sealed: Sealed.make(sealed.slice(1)) }))
      )
  })),
  "says that it replaced and does not": faulty(SealedStore, () => ({ replace: () => Effect.succeed(true) })),
  "replaces whatever is there": faulty(SealedStore, (store) => ({
    replace: ({ place }, next) =>
      Effect.flatMap(store.sealedByOthers("", { after: null, limit: 1000 }), (values) => {
        const found = values.find((value) => value.place.table === place.table && value.place.id === place.id)
        return found === undefined ? Effect.succeed(false) : store.replace(found, next)
      })
  }))
})
