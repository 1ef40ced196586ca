/** Audit logs with one fault each, of which the contract must notice every one. */
import { auditStoreChecks } from "@weft/contract"
import { AuditStore } from "@weft/core"
import { Effect } from "effect"
import { at } from "../src/Samples.ts"
import { faulty, notices } from "./Faults.ts"

notices("the contract of the audit log", auditStoreChecks, {
  "notes nothing of a change": faulty(AuditStore, () => ({ within: (change) => change })),
  "appends only the first": faulty(AuditStore, (store) => ({
    append: (entries) => store.append(entries.slice(0, 1))
  })),
  "lists the oldest first": faulty(AuditStore, (store) => ({
    list: (filter, page) =>
      Effect.map(store.list(filter, page), ({ items, total }) => ({ items: items.toReversed(), total }))
  })),
  "takes the page for all": faulty(AuditStore, (store) => ({
    list: (filter, page) => Effect.map(store.list(filter, page), ({ items }) => ({ items, total: items.length }))
  })),
  "shows other environments": faulty(AuditStore, (store) => ({
    list: ({ env_id: _, ...filter }, page) => store.list(filter, page)
  })),
  "disregards who it was": faulty(AuditStore, (store) => ({
    list: ({ actor_id: _, ...filter }, page) => store.list(filter, page)
  })),
  "disregards the time": faulty(AuditStore, (store) => ({
    list: ({ since: _, ...filter }, page) => store.list(filter, page)
  })),
  "keeps what is old": faulty(AuditStore, (store) => ({ trim: (what) => store.trim({ ...what, before: at(0) }) })),
  "keeps one too many": faulty(AuditStore, (store) => ({
    trim: (what) => store.trim({ ...what, keep: what.keep + 1 })
  })),
  "removes all at once": faulty(AuditStore, (store) => ({ trim: (what) => store.trim({ ...what, limit: 1000 }) }))
})
