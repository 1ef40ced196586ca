/** All events, newest first, and a form that publishes one. */

import { A, useNavigate } from "@solidjs/router"
import type { Event } from "@weft/client"
import { createSignal, type JSX } from "solid-js"
import { weft } from "../api/client.ts"
import { Empty } from "../design/Feedback.tsx"
import { Icon } from "../design/Icon.tsx"
import { PagedTable } from "../design/PagedTable.tsx"
import { NewerButton } from "../live/NewerButton.tsx"
import { formatInstant } from "../text/format.ts"
import { t } from "../text/Language.ts"
import { PublishDialog } from "./PublishDialog.tsx"
import "./events.css"

export default function EventsPage(): JSX.Element {
  const navigate = useNavigate()
  const [refreshes, setRefreshes] = createSignal(0)
  const [isPublishing, setPublishing] = createSignal(false)
  return (
    <div class="page tall">
      <div class="page-head">
        <h1>{t().events.title}</h1>
        <div class="actions">
          <NewerButton
            event="event:created"
            version={String(refreshes())}
            onShow={() => setRefreshes(refreshes() + 1)}
          />
          <button type="button" class="button primary" onClick={() => setPublishing(true)}>
            <Icon name="plus" />
            {t().events.publish}
          </button>
        </div>
      </div>
      <PagedTable<Event>
        label={t().events.table}
        columns="event-columns"
        headers={[t().events.type, t().events.data, t().events.time]}
        version={String(refreshes())}
        load={async (offset, limit, signal) => await weft.events.list({ limit, offset }, { signal })}
        row={(event) => <EventCells event={event} />}
        empty={<Empty title={t().events.emptyTitle} text={t().events.empty} />}
      />
      <PublishDialog
        isOpen={isPublishing()}
        onClose={() => setPublishing(false)}
        onPublished={({ event_id }) => navigate(`/events/${event_id}`)}
      />
    </div>
  )
}

/** Characters of an event's data in a row. */
const excerptLength = 300

const EventCells = (props: { readonly event: Event }): JSX.Element => (
  <>
    <span role="cell" class="cut">
      <A class="row-link mono" href={`/events/${props.event.event_id}`}>
        {props.event.event_type}
      </A>
    </span>
    <span role="cell" class="cut mono muted">
      {JSON.stringify(props.event.event_data).slice(0, excerptLength)}
    </span>
    <span role="cell" class="cut muted">
      <time datetime={props.event.event_time} title={props.event.event_time}>
        {formatInstant(props.event.event_time)}
      </time>
    </span>
  </>
)
