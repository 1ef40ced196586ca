/**
 * Claims as rows of values, which threads hand each other in a fraction of the time that objects take.
 *
 * The retries of a function's deliveries are the same object and go once, and runs not at all: they follow from the
 * rest.
 */
import {
  type Claim,
  type ClaimRequest,
  type ClaimResult,
  type Delivery,
  type Event,
  type RetryPolicy,
  type RunId,
  startRun
} from "@weft/core"

export interface ClaimRows extends Omit<ClaimResult, "claims"> {
  readonly retries: ReadonlyArray<RetryPolicy>
  readonly rows: ReadonlyArray<ClaimRow>
}

export type ClaimRow = readonly [
  run_id: RunId,
  retry: number,
  delivery_id: Delivery["delivery_id"],
  env_id: Delivery["env_id"],
  event_id: Delivery["event_id"],
  stream_id: Delivery["stream_id"],
  project_id: Delivery["project_id"],
  project_name: string,
  build_id: Delivery["build_id"],
  ns: string,
  variable: string,
  run_type: Delivery["run_type"],
  timeout_ms: number,
  group: Delivery["group"],
  attempt: number,
  due_at: Delivery["due_at"],
  caused_by: Delivery["caused_by"],
  first_run_id: Delivery["first_run_id"],
  traceparent: string | undefined,
  event_type: string,
  event_data: Event["event_data"],
  event_time: Event["event_time"],
  created_at: Event["created_at"]
]

export const toClaimRows = ({ claims, ...rest }: ClaimResult): ClaimRows => {
  const places = new Map<RetryPolicy, number>()
  const rows = claims.map(({ delivery, event, run }): ClaimRow => {
    const place = places.get(delivery.retry) ?? places.size
    places.set(delivery.retry, place)
    return [
      run.run_id,
      place,
      delivery.delivery_id,
      delivery.env_id,
      delivery.event_id,
      delivery.stream_id,
      delivery.project_id,
      delivery.project_name,
      delivery.build_id,
      delivery.ns,
      delivery.var,
      delivery.run_type,
      delivery.timeout_ms,
      delivery.group,
      delivery.attempt,
      delivery.due_at,
      delivery.caused_by,
      delivery.first_run_id,
      delivery.traceparent,
      event.event_type,
      event.event_data,
      event.event_time,
      event.created_at
    ]
  })
  return { ...rest, retries: [...places.keys()], rows }
}

export const fromClaimRows = ({ retries, rows, ...rest }: ClaimRows, request: ClaimRequest): ClaimResult => ({
  ...rest,
  claims: rows.map((row) => claimOf(row, retries, request))
})

const claimOf = (row: ClaimRow, retries: ReadonlyArray<RetryPolicy>, { lease, now }: ClaimRequest): Claim => {
  const retry = retries[row[1]]
  if (retry === undefined) throw new Error("A claim has no retries")
  const traceparent = row[18]
  const delivery: Delivery = {
    delivery_id: row[2],
    env_id: row[3],
    event_id: row[4],
    stream_id: row[5],
    project_id: row[6],
    project_name: row[7],
    build_id: row[8],
    ns: row[9],
    var: row[10],
    run_type: row[11],
    retry,
    timeout_ms: row[12],
    group: row[13],
    attempt: row[14],
    due_at: row[15],
    caused_by: row[16],
    first_run_id: row[17],
    ...(traceparent === undefined ? {} : { traceparent })
  }
  const { env_id, event_id, stream_id } = delivery
  const [, , , , , , , , , , , , , , , , , , , event_type, event_data, event_time, created_at] = row
  const event: Event = { event_id, env_id, stream_id, event_type, event_data, event_time, created_at }
  return { delivery, event, run: startRun(delivery, row[0], lease.node_id, now) }
}
