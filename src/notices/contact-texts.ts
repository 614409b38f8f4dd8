import type { Language } from './affiliate-kinds.ts';
import type { ContactNoticeKind } from './contacts.ts';
import type { AlertData } from './kinds.ts';

/*
 * The words of notices to the contacts of webhook endpoints, as data. In braces: {merchant} the name of the account, {host} of the
 * endpoint, {percent} how close it is to being disabled, {why} it was disabled. A line is left out if one of its values is not known.
 */

interface NoticeText {
  readonly subject: string;
  readonly lines: readonly string[];
}

interface PageText {
  readonly title: string;
  readonly lead: string;
  readonly button: string;
  readonly done: string;
  readonly ended: string;
}

export interface ContactTexts extends Readonly<Record<ContactNoticeKind, NoticeText>> {
  readonly hello: string;
  /** Above the link that confirms the address. */
  readonly confirm: string;
  /** Below it. */
  readonly ignore: string;
  readonly why: Readonly<Record<NonNullable<AlertData['reason']>, string>>;
  /** Above the address of the portal. */
  readonly portal: string;
  readonly answer: string;
  /** Above the link that ends the notices. */
  readonly stop: string;
  /** The pages of the two links. */
  readonly confirmPage: PageText;
  readonly stopPage: PageText;
}

export const CONTACT_TEXTS: Readonly<Record<Language, ContactTexts>> = {
  en: {
    hello: 'Hello,',
    contact_confirmation: {
      subject: 'Confirm this address for e-mails about a webhook endpoint',
      lines: [
        '{merchant} was asked to e-mail this address when a webhook endpoint fails, is disabled or works again.',
      ],
    },
    confirm: 'To get these e-mails, confirm the address. The link works once, for 7 days:',
    ignore: 'If you did not expect this, ignore it: you get no further e-mails.',
    endpoint_failing: {
      subject: 'Your webhook endpoint is failing',
      lines: [
        'Every attempt to send events of {merchant} to {host} fails. The endpoint is {percent} % of the way to being disabled.',
      ],
    },
    endpoint_disabled: {
      subject: 'Your webhook endpoint was disabled',
      lines: [
        'The endpoint at {host} was disabled, because {why}. Events of {merchant} wait until it is enabled again.',
      ],
    },
    endpoint_recovered: {
      subject: 'Your webhook endpoint works again',
      lines: ['The endpoint at {host} accepts events of {merchant} again.'],
    },
    why: {
      failing: 'every attempt failed for five days',
      gone: 'it answered 410 (gone)',
      requested: 'it asked for this in an answer (webhook-delivery: disable)',
    },
    portal: 'You find its log and its settings here:',
    answer: 'Questions? Write to {reply}.',
    stop: 'You get this e-mail because this address was confirmed for the endpoint. To get no more of these e-mails:',
    confirmPage: {
      title: 'Confirm your e-mail address',
      lead: 'You will get an e-mail when a webhook endpoint that receives events of {merchant} fails, is disabled or works again.',
      button: 'Confirm the address',
      done: 'The address is confirmed. You can close this page.',
      ended:
        'This link is not complete, was used before, or no longer works. Ask for a new one where the address was entered.',
    },
    stopPage: {
      title: 'Stop e-mails about the webhook endpoint',
      lead: 'Your address is removed from the endpoint. Events are still sent to it.',
      button: 'Stop the e-mails',
      done: 'You will get no more e-mails about the endpoint.',
      ended: 'This link is not complete, or no longer works. Answer the e-mail to get no more of them.',
    },
  },
  de: {
    hello: 'Hallo,',
    contact_confirmation: {
      subject: 'Bestätigen Sie diese Adresse für E-Mails zu einem Webhook-Endpunkt',
      lines: [
        '{merchant} soll an diese Adresse schreiben, wenn ein Webhook-Endpunkt ausfällt, abgeschaltet wird oder wieder funktioniert.',
      ],
    },
    confirm:
      'Um diese E-Mails zu erhalten, bestätigen Sie die Adresse. Der Link funktioniert einmal, 7 Tage lang:',
    ignore: 'Wenn Sie das nicht erwartet haben, ignorieren Sie es: Sie erhalten keine weiteren E-Mails.',
    endpoint_failing: {
      subject: 'Ihr Webhook-Endpunkt ist gestört',
      lines: [
        'Jeder Versuch, Ereignisse von {merchant} an {host} zu senden, schlägt fehl. Die Zeit bis zur Abschaltung ist zu {percent} % vorbei.',
      ],
    },
    endpoint_disabled: {
      subject: 'Ihr Webhook-Endpunkt wurde abgeschaltet',
      lines: [
        'Der Endpunkt {host} wurde abgeschaltet, denn {why}. Ereignisse von {merchant} warten, bis er wieder eingeschaltet wird.',
      ],
    },
    endpoint_recovered: {
      subject: 'Ihr Webhook-Endpunkt funktioniert wieder',
      lines: ['Der Endpunkt {host} nimmt wieder Ereignisse von {merchant} an.'],
    },
    why: {
      failing: 'fünf Tage lang schlug jeder Versuch fehl',
      gone: 'er hat mit 410 (gone) geantwortet',
      requested: 'er hat in einer Antwort darum gebeten (webhook-delivery: disable)',
    },
    portal: 'Protokoll und Einstellungen finden Sie hier:',
    answer: 'Fragen? Schreiben Sie an {reply}.',
    stop: 'Sie erhalten diese E-Mail, weil diese Adresse für den Endpunkt bestätigt wurde. Um keine solchen E-Mails mehr zu erhalten:',
    confirmPage: {
      title: 'E-Mail-Adresse bestätigen',
      lead: 'Sie erhalten eine E-Mail, wenn ein Webhook-Endpunkt, der Ereignisse von {merchant} empfängt, ausfällt, abgeschaltet wird oder wieder funktioniert.',
      button: 'Adresse bestätigen',
      done: 'Die Adresse ist bestätigt. Sie können diese Seite schließen.',
      ended:
        'Dieser Link ist unvollständig, wurde schon benutzt oder gilt nicht mehr. Fordern Sie dort einen neuen an, wo die Adresse eingetragen wurde.',
    },
    stopPage: {
      title: 'E-Mails zum Webhook-Endpunkt abbestellen',
      lead: 'Ihre Adresse wird aus dem Endpunkt entfernt. Ereignisse werden weiterhin gesendet.',
      button: 'E-Mails abbestellen',
      done: 'Sie erhalten keine E-Mails mehr zu diesem Endpunkt.',
      ended:
        'Dieser Link ist unvollständig oder gilt nicht mehr. Antworten Sie auf die E-Mail, um keine mehr zu erhalten.',
    },
  },
  fr: {
    hello: 'Bonjour,',
    contact_confirmation: {
      subject: 'Confirmez cette adresse pour les e-mails sur un endpoint webhook',
      lines: [
        '{merchant} doit écrire à cette adresse quand un endpoint webhook échoue, est désactivé ou fonctionne à nouveau.',
      ],
    },
    confirm: 'Pour recevoir ces e-mails, confirmez l’adresse. Le lien fonctionne une fois, pendant 7 jours :',
    ignore: 'Si vous n’attendiez pas cet e-mail, ignorez-le : vous n’en recevrez pas d’autre.',
    endpoint_failing: {
      subject: 'Votre endpoint webhook échoue',
      lines: [
        'Chaque tentative d’envoyer des événements de {merchant} à {host} échoue. {percent} % du délai avant la désactivation sont écoulés.',
      ],
    },
    endpoint_disabled: {
      subject: 'Votre endpoint webhook a été désactivé',
      lines: [
        'L’endpoint {host} a été désactivé, car {why}. Les événements de {merchant} attendent qu’il soit réactivé.',
      ],
    },
    endpoint_recovered: {
      subject: 'Votre endpoint webhook fonctionne à nouveau',
      lines: ['L’endpoint {host} accepte à nouveau les événements de {merchant}.'],
    },
    why: {
      failing: 'chaque tentative a échoué pendant cinq jours',
      gone: 'il a répondu 410 (gone)',
      requested: 'il l’a demandé dans une réponse (webhook-delivery: disable)',
    },
    portal: 'Vous trouvez son journal et ses réglages ici :',
    answer: 'Des questions ? Écrivez à {reply}.',
    stop: 'Vous recevez cet e-mail parce que cette adresse a été confirmée pour l’endpoint. Pour ne plus recevoir ces e-mails :',
    confirmPage: {
      title: 'Confirmez votre adresse e-mail',
      lead: 'Vous recevrez un e-mail quand un endpoint webhook qui reçoit des événements de {merchant} échoue, est désactivé ou fonctionne à nouveau.',
      button: 'Confirmer l’adresse',
      done: 'L’adresse est confirmée. Vous pouvez fermer cette page.',
      ended:
        'Ce lien est incomplet, a déjà servi ou n’est plus valable. Demandez-en un nouveau là où l’adresse a été saisie.',
    },
    stopPage: {
      title: 'Ne plus recevoir d’e-mails sur l’endpoint webhook',
      lead: 'Votre adresse sera retirée de l’endpoint. Les événements y sont toujours envoyés.',
      button: 'Arrêter les e-mails',
      done: 'Vous ne recevrez plus d’e-mails sur cet endpoint.',
      ended: 'Ce lien est incomplet ou n’est plus valable. Répondez à l’e-mail pour ne plus en recevoir.',
    },
  },
  es: {
    hello: 'Hola:',
    contact_confirmation: {
      subject: 'Confirme esta dirección para los correos sobre un endpoint de webhooks',
      lines: [
        '{merchant} debe escribir a esta dirección cuando un endpoint de webhooks falle, se desactive o vuelva a funcionar.',
      ],
    },
    confirm: 'Para recibir estos correos, confirme la dirección. El enlace funciona una vez, durante 7 días:',
    ignore: 'Si no esperaba este correo, ignórelo: no recibirá ninguno más.',
    endpoint_failing: {
      subject: 'Su endpoint de webhooks falla',
      lines: [
        'Todos los intentos de enviar eventos de {merchant} a {host} fallan. Ha pasado el {percent} % del plazo hasta su desactivación.',
      ],
    },
    endpoint_disabled: {
      subject: 'Su endpoint de webhooks se ha desactivado',
      lines: [
        'El endpoint {host} se ha desactivado, porque {why}. Los eventos de {merchant} esperan hasta que se active de nuevo.',
      ],
    },
    endpoint_recovered: {
      subject: 'Su endpoint de webhooks vuelve a funcionar',
      lines: ['El endpoint {host} acepta de nuevo los eventos de {merchant}.'],
    },
    why: {
      failing: 'todos los intentos fallaron durante cinco días',
      gone: 'respondió 410 (gone)',
      requested: 'lo pidió en una respuesta (webhook-delivery: disable)',
    },
    portal: 'Su registro y sus ajustes están aquí:',
    answer: '¿Preguntas? Escriba a {reply}.',
    stop: 'Recibe este correo porque esta dirección se confirmó para el endpoint. Para no recibir más de estos correos:',
    confirmPage: {
      title: 'Confirme su dirección de correo',
      lead: 'Recibirá un correo cuando un endpoint de webhooks que recibe eventos de {merchant} falle, se desactive o vuelva a funcionar.',
      button: 'Confirmar la dirección',
      done: 'La dirección está confirmada. Puede cerrar esta página.',
      ended:
        'Este enlace está incompleto, ya se usó o ya no es válido. Pida uno nuevo donde se introdujo la dirección.',
    },
    stopPage: {
      title: 'No recibir más correos sobre el endpoint de webhooks',
      lead: 'Su dirección se quitará del endpoint. Los eventos se siguen enviando.',
      button: 'Dejar de recibir correos',
      done: 'No recibirá más correos sobre este endpoint.',
      ended: 'Este enlace está incompleto o ya no es válido. Responda al correo para no recibir más.',
    },
  },
};
