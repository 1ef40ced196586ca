/** Audit logs with one fault each, which the contract must detect. */
import { auditStoreChecks } from "@weft/contract"
import { AuditStore } from "@weft/core/adapter"
import { Effect } from "effect"
import { at } from "../src/Samples.ts"
import { detects, faulty } from "./Faults.ts"

detects("the contract of the audit log", auditStoreChecks, {
  "stores no entry of a change": faulty(AuditStore, () => ({ within: (change) => change })),
  "appends only the first entry": faulty(AuditStore, (store) => ({
    append: (entries) => store.append(entries.slice(0, 1))
  })),
  "lists the oldest first": faulty(AuditStore, (store) => ({
    list: (filter, page) =>
      Effect.map(store.list(filter, page), ({ items, total }) => ({ items: items.toReversed(), total }))
  })),
  "returns the page size as the total": faulty(AuditStore, (store) => ({
    list: (filter, page) => Effect.map(store.list(filter, page), ({ items }) => ({ items, total: items.length }))
  })),
  "lists other environments": faulty(AuditStore, (store) => ({
    list: ({ env_id: _, ...filter }, page) => store.list(filter, page)
  })),
  "ignores the actor filter": faulty(AuditStore, (store) => ({
    list: ({ actor_id: _, ...filter }, page) => store.list(filter, page)
  })),
  "ignores the time filter": faulty(AuditStore, (store) => ({
    list: ({ since: _, ...filter }, page) => store.list(filter, page)
  })),
  "keeps old entries": faulty(AuditStore, (store) => ({ trim: (what) => store.trim({ ...what, before: at(0) }) })),
  "keeps one entry too many": faulty(AuditStore, (store) => ({
    trim: (what) => store.trim({ ...what, keep: what.keep + 1 })
  })),
  "removes more entries than the limit": faulty(AuditStore, (store) => ({
    trim: (what) => store.trim({ ...what, limit: 1000 })
  }))
})
