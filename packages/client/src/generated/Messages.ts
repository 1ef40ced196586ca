/** The messages of subscriptions. Generated from the definition of the API: `npm run generate -w packages/client`. */
import type { Json } from "../Json.ts"
import type { Waiting } from "./Records.ts"

export type EnvironmentMessage =
  | {
      /** Position for Last-Event-ID, to resume after this message */
      readonly id?: string
      readonly event: "run:start"
      readonly data: {
        readonly run_id: string
        readonly stream_id: string
        readonly run_type: string
      }
    }
  | {
      /** Position for Last-Event-ID, to resume after this message */
      readonly id?: string
      readonly event: "run:stop" | "run:fail" | "run:cancel"
      readonly data: {
        readonly run_id: string
        readonly stream_id: string
      }
    }
  | {
      /** Position for Last-Event-ID, to resume after this message */
      readonly id?: string
      readonly event: "run:step"
      readonly data: {
        readonly run_id: string
        readonly position: number
        readonly kind:
          | "step"
          | "sleep"
          | "event"
          | "run"
          | "token"
          | "completion"
          | "call"
          | "version"
          | "cancel"
          | "stall"
        readonly name: string
        readonly ok: boolean
        readonly attempts: number
        /** Milliseconds from the start of the request to its result */
        readonly ms: number
        readonly stream_id: string
      }
    }
  | {
      /** Position for Last-Event-ID, to resume after this message */
      readonly id?: string
      readonly event: "run:waiting"
      readonly data: {
        readonly run_id: string
        readonly stream_id: string
        readonly waiting: Waiting
      }
    }
  | {
      /** Position for Last-Event-ID, to resume after this message */
      readonly id?: string
      readonly event: "event:created" | "event:handled"
      readonly data: {
        readonly event_id: string
        readonly stream_id: string
        readonly event_type: string
      }
    }
  | {
      /** Position for Last-Event-ID, to resume after this message */
      readonly id?: string
      readonly event: "stream:created"
      readonly data: {
        readonly stream_id: string
      }
    }

export type StreamMessage =
  | {
      /** Position for Last-Event-ID, to resume after this message */
      readonly id?: string
      readonly event: "run:start" | "run:stop" | "run:fail" | "run:cancel"
      readonly data: {
        readonly type: "run:start" | "run:stop" | "run:fail" | "run:cancel"
        readonly run: {
          readonly run_id: string
          readonly status: "running" | "succeeded" | "failed" | "cancelled"
          /** Present when the run has ended */
          readonly result?: Json
        }
      }
    }
  | {
      /** Position for Last-Event-ID, to resume after this message */
      readonly id?: string
      readonly event: "run:step"
      readonly data: {
        readonly type: "run:step"
        readonly run_id: string
        readonly position: number
        readonly kind:
          | "step"
          | "sleep"
          | "event"
          | "run"
          | "token"
          | "completion"
          | "call"
          | "version"
          | "cancel"
          | "stall"
        readonly name: string
        readonly ok: boolean
        readonly attempts: number
        /** Milliseconds from the start of the request to its result */
        readonly ms: number
      }
    }
  | {
      /** Position for Last-Event-ID, to resume after this message */
      readonly id?: string
      readonly event: "run:waiting"
      readonly data: {
        readonly type: "run:waiting"
        readonly run_id: string
        readonly waiting: Waiting
      }
    }
  | {
      /** Position for Last-Event-ID, to resume after this message */
      readonly id?: string
      readonly event: "stream:data"
      readonly data: {
        readonly type: "stream:data"
        readonly run_id: string
        readonly data_type: string
        readonly payload: Json
      }
    }
  | {
      /** Position for Last-Event-ID, to resume after this message */
      readonly id?: string
      readonly event: "stream:complete"
      readonly data: {
        readonly type: "stream:complete"
      }
    }

export type WatchedMessage =
  | {
      /** Position for Last-Event-ID, to resume after this message */
      readonly id?: string
      readonly event: "event:published"
      readonly data: {
        readonly type: "event:published"
        readonly event_id: string
        readonly stream_id: string
        readonly event_type: string
      }
    }
  | {
      /** Position for Last-Event-ID, to resume after this message */
      readonly id?: string
      readonly event: "run:start" | "run:stop" | "run:fail" | "run:cancel"
      readonly data: {
        readonly type: "run:start" | "run:stop" | "run:fail" | "run:cancel"
        readonly run: {
          readonly run_id: string
          readonly status: "running" | "succeeded" | "failed" | "cancelled"
          /** Present when the run has ended */
          readonly result?: Json
        }
      }
    }
  | {
      /** Position for Last-Event-ID, to resume after this message */
      readonly id?: string
      readonly event: "run:step"
      readonly data: {
        readonly type: "run:step"
        readonly run_id: string
        readonly position: number
        readonly kind:
          | "step"
          | "sleep"
          | "event"
          | "run"
          | "token"
          | "completion"
          | "call"
          | "version"
          | "cancel"
          | "stall"
        readonly name: string
        readonly ok: boolean
        readonly attempts: number
        /** Milliseconds from the start of the request to its result */
        readonly ms: number
      }
    }
  | {
      /** Position for Last-Event-ID, to resume after this message */
      readonly id?: string
      readonly event: "run:waiting"
      readonly data: {
        readonly type: "run:waiting"
        readonly run_id: string
        readonly waiting: Waiting
      }
    }
  | {
      /** Position for Last-Event-ID, to resume after this message */
      readonly id?: string
      readonly event: "stream:data"
      readonly data: {
        readonly type: "stream:data"
        readonly run_id: string
        readonly data_type: string
        readonly payload: Json
      }
    }
  | {
      /** Position for Last-Event-ID, to resume after this message */
      readonly id?: string
      readonly event: "stream:complete"
      readonly data: {
        readonly type: "stream:complete"
      }
    }
