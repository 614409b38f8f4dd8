import { CATALOGUE, exampleEvent } from '../../catalogue/catalogue.ts';
import { escapeHtml } from '../../kernel/html.ts';
import { EVENT_TYPES } from '../../outbox/event-types.ts';
import { jsonHtml } from './code.ts';
import { inline } from './text.ts';

/** The types of event, each with when it happens and the event as it is sent. */
export function eventTypesHtml(): string {
  const types = (Object.keys(CATALOGUE) as (keyof typeof CATALOGUE)[]).map((type) => {
    const name = escapeHtml(type);
    return (
      `<li id="${name}"><p class="name"><code>${name}</code></p><p>${inline(EVENT_TYPES[type])}</p>` +
      `<details><summary>Example of <code>${name}</code></summary><figure class="code"><pre tabindex="0" role="group" ` +
      `aria-label="Example of ${name}"><code>${jsonHtml(exampleEvent(type))}</code></pre></figure></details></li>`
    );
  });
  return (
    '<section class="records" id="types" aria-labelledby="types-name"><h2 id="types-name">Types of event</h2>' +
    `<ul class="fields">${types.join('')}</ul></section>`
  );
}
