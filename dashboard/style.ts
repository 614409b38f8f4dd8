// The styles of every page of this build.
import 'virtual:tokens.css';
import './style/base.css';
import './style/shell.css';
import './style/page.css';
import './style/button.css';
import './style/field.css';
import './style/feedback.css';
import './style/steps.css';
import './style/record.css';
import './style/table.css';
import './style/values.css';
import './style/overlay.css';
import './style/small.css';
import './style/print.css';
