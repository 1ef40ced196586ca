/** Permissions to store a file at a path: `create` for a new path, `update` for an existing file. */
import { Effect } from "effect"
import type { Forbidden } from "../../foundation/Errors.ts"
import { Caller, forbidden, type Identity } from "../../tenants/access/Caller.ts"
import { allows } from "../../tenants/access/Permission.ts"
import type { File } from "./File.ts"
import type { Stored, StoreTerms } from "./FileStore.ts"

export type StoreRights = Pick<StoreTerms, "mayCreate" | "mayReplace">

export const rightsOn = (caller: Identity, path: string): StoreRights => ({
  mayCreate: allows(caller.permissions, "file", path, "create"),
  mayReplace: allows(caller.permissions, "file", path, "update")
})

export const hasAny = ({ mayCreate, mayReplace }: StoreRights): boolean => mayCreate || mayReplace

/** Returns the current caller and its rights on the path. Fails if it has none. */
export const requireRights = (
  path: string
): Effect.Effect<{ readonly caller: Identity; readonly rights: StoreRights }, Forbidden, Caller> =>
  Effect.flatMap(Caller, (caller) => {
    const rights = rightsOn(caller, path)
    return hasAny(rights) ? Effect.succeed({ caller, rights }) : Effect.fail(forbidden("file", path, "create"))
  })

/** Fails unless the rights allow to replace the file `old`, or to create a file if it is null. */
export const requireRightTo = (
  { mayCreate, mayReplace }: StoreRights,
  path: string,
  old: File | null
): Effect.Effect<void, Forbidden> =>
  (old === null ? mayCreate : mayReplace) ? Effect.void : Effect.fail(missingRight(path, old === null))

/** Returns the error for a right that the store found missing. */
export const rightRefused = (
  path: string,
  { _tag }: Extract<Stored, { readonly _tag: "MayNotCreate" | "MayNotReplace" }>
): Forbidden => missingRight(path, _tag === "MayNotCreate")

const missingRight = (path: string, isNew: boolean): Forbidden => forbidden("file", path, isNew ? "create" : "update")
