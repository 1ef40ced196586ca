/** The function whose runs are recorded and replayed. */

/** Every n-th order has another price with the changed build. */
const nth = 37

/** Returns the module. Its requests go to a server on this machine. */
export const recordedSource = (port: number, isChanged: boolean): string => `
export const onOrder = async (event, svc) => {
  const { total } = event.event_data
  const key = await svc.context.get("KEY")
  const response = await fetch("http://127.0.0.1:${port}/rates", {
    method: "POST",
    headers: { "x-key": key },
    body: JSON.stringify({ total, key })
  })
  const { rate } = await response.json()
  const price = total * rate${isChanged ? ` + (total % ${nth} === 1 ? 1 : 0)` : ""}
  await svc.events.publish({ type: "priced", data: price })
  return { price }
}
onOrder.meta = { event: "order", record: { inputs: true, hostCalls: true } }
`

/** Returns the totals of the orders whose runs differ, if orders have the totals from 0 on. */
export const changedTotals = (orders: number): ReadonlyArray<number> =>
  Array.from({ length: orders }, (_, total) => total).filter((total) => total % nth === 1)
