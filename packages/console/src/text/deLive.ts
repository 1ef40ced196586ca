/** German texts of the pages about streams and ticks. */
import type { enLive } from "./enLive.ts"

export const deLive: typeof enLive = {
  calendar: {
    title: "Die nächsten sieben Tage",
    first: (count) => `Die ${count} Zeitpläne, die als Nächstes auslösen`,
    none: "Nichts geplant",
    times: (count) => `× ${count}`,
    frequent: "Häufige Zeitpläne"
  },
  streams: {
    title: "Ströme",
    intro:
      "Ein Strom ist eine Folge von Ereignissen und ihren Läufen. Öffnen Sie einen, um seine Nachrichten live zu sehen.",
    stream: "Strom",
    id: "Id des Stroms",
    open: "Öffnen",
    start: "Strom beginnen",
    publish: "In diesen Strom veröffentlichen",
    table: "Ströme der neuesten Ereignisse",
    newest: "Neuestes Ereignis",
    events: "Ereignisse",
    messages: "Nachrichten",
    clear: "Leeren",
    silent: "Nachrichten erscheinen hier sofort: Beginn und Ende von Läufen, Schritte und Gesendetes von Funktionen.",
    emptyTitle: "Noch kein Strom",
    empty: "Jedes Ereignis beginnt einen Strom, wenn es keinen nennt. Funktionen senden mit `svc.stream.emit`."
  }
}
